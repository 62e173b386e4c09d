"""What an .onnx file says about itself, read without weights and without the onnx package."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..errors import BundleError
from .protobuf import Schema, parse_file

# The part of onnx.proto that a runtime needs: ports, and where external weights lie.
_ONNX: Final[Schema] = {
    "Model": {"graph": (7, "Graph"), "opset_import": (8, "*Opset")},
    "Opset": {"version": (2, "int64")},
    "Graph": {
        "initializer": (5, "*Tensor"),
        "input": (11, "*ValueInfo"),
        "output": (12, "*ValueInfo"),
    },
    "Tensor": {
        "name": (8, "string"),
        "external_data": (13, "*Entry"),
        "data_location": (14, "int64"),
    },
    "Entry": {"key": (1, "string"), "value": (2, "string")},
    "ValueInfo": {"name": (1, "string"), "type": (2, "Type")},
    "Type": {"tensor_type": (1, "TensorType")},
    "TensorType": {"elem_type": (1, "int64"), "shape": (2, "Shape")},
    "Shape": {"dim": (1, "*Dim")},
    "Dim": {"dim_value": (1, "int64")},
}
_EXTERNAL: Final = 1  # TensorProto.DataLocation.EXTERNAL

# TensorProto.DataType numbers of the element types a bundle can use.
_ELEMENT_TYPES: Final = {1: "float32", 6: "int32", 7: "int64", 9: "bool", 10: "float16"}


@dataclass(frozen=True)
class Port:
    """One input or output of a graph; ``None`` in ``shape`` is a dimension that is not fixed."""

    name: str
    element_type: str
    shape: tuple[int | None, ...]


@dataclass(frozen=True)
class GraphFile:
    """Inputs, outputs, and per external data file (bare name) the bytes the graph reads of it."""

    path: Path
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    external_bytes: Mapping[str, int]


def read_graph_file(path: Path) -> GraphFile:
    """Read the facts of one .onnx file.

    Raises:
        BundleError: the file is missing, unreadable, cut off, or no ONNX graph.
    """
    model = parse_file(path, _ONNX, "Model")
    if not model.opset_import or not model.graph.output:
        raise BundleError(f"{path} is cut off or damaged: it names no outputs or no operator set")
    return GraphFile(
        path=path,
        inputs=tuple(_port(value) for value in model.graph.input),
        outputs=tuple(_port(value) for value in model.graph.output),
        external_bytes=_external_bytes(path, model.graph.initializer),
    )


def _port(value: Any) -> Port:
    tensor = value.type.tensor_type
    # protobuf reads an absent dim_value (a symbolic dimension) as 0, which no fixed one can be
    shape = tuple(dim.dim_value or None for dim in tensor.shape.dim)
    return Port(value.name, _ELEMENT_TYPES.get(tensor.elem_type, f"#{tensor.elem_type}"), shape)


def _external_bytes(path: Path, initializers: Any) -> dict[str, int]:
    needed: dict[str, int] = {}
    for tensor in initializers:
        if tensor.data_location != _EXTERNAL:
            continue
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = entries.get("location", "")
        # ONNX Runtime refuses a location outside the graph's folder; so does the published layout
        if not location or Path(location).name != location:
            raise BundleError(f"{path} keeps tensor {tensor.name} outside its folder: {location!r}")
        try:
            end = int(entries.get("offset", "0")) + int(entries.get("length", "0"))
        except ValueError:
            raise BundleError(f"{path} places tensor {tensor.name} at no number") from None
        needed[location] = max(needed.get(location, 0), end)
    return needed
