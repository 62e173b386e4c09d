"""A small hand for writing ONNX graphs. Needs the package onnx, which the extra ``all`` brings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

OPSET: Final = 17
# What the publisher's exporter writes, and old enough for any ONNX Runtime that is served.
IR_VERSION: Final = 8
# Where ONNX Runtime keeps operators of its own.
MICROSOFT: Final = "com.microsoft"
FLOAT = TensorProto.FLOAT
INT32 = TensorProto.INT32
INT64 = TensorProto.INT64
BOOL = TensorProto.BOOL
# As the end of a slice.
TO_THE_END = 2**31 - 1

# A string names a length that is free.
Shape = Sequence[int | str]


class GraphWriter:
    """One graph in the making; values are passed around by name."""

    def __init__(self, name: str) -> None:
        self._graph = GraphProto(name=name)
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._initializers: set[str] = set()
        self._outputs: dict[str, str] = {}
        self._count = 0

    def input(self, name: str, kind: int, shape: Shape) -> str:
        """Declare an input."""
        self._graph.input.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, value: str, name: str, kind: int, shape: Shape) -> None:
        """Declare a value as an output; every use of it takes the output's name."""
        self._outputs[value] = name
        self._graph.output.append(helper.make_tensor_value_info(name, kind, shape))

    def op(self, kind: str, *inputs: str, **attributes: object) -> str:
        """Add a node with one output and return the output's name."""
        return self.append(kind, inputs, self._name(kind), **attributes)

    def contrib(
        self, kind: str, *inputs: str, outputs: int = 1, **attributes: object
    ) -> tuple[str, ...]:
        """Add a node of ONNX Runtime's own operators and return its outputs' names."""
        names = tuple(self._name(kind) for _ in range(outputs))
        node = _node(kind, inputs, names, **attributes)
        node.domain = MICROSOFT
        self._graph.node.append(node)
        return names

    def split(self, value: str, parts: int, axis: int = -1) -> list[str]:
        """Cut an axis, by default the last, into equal parts."""
        outputs = [self._name("Split") for _ in range(parts)]
        self._graph.node.append(_node("Split", [value], outputs, axis=axis))
        return outputs

    def top(self, value: str, count: int) -> tuple[str, str]:
        """The largest entries of axis 1, sorted, and their int64 places."""
        outputs = [self._name("TopK"), self._name("TopK")]
        inputs = [value, self.ints(count)]
        self._graph.node.append(_node("TopK", inputs, outputs, axis=1, largest=1, sorted=1))
        return outputs[0], outputs[1]

    def append(self, kind: str, inputs: Sequence[str], output: str, **attributes: object) -> str:
        """Add a node whose output has a given name."""
        self._graph.node.append(_node(kind, inputs, [output], **attributes))
        return output

    def ints(self, *values: int) -> str:
        """A constant int64 vector."""
        return self.constant(np.array(values, np.int64))

    def integer(self, value: int) -> str:
        """A constant int64 scalar."""
        return self.constant(np.array(value, np.int64))

    def number(self, value: float) -> str:
        """A constant float32 scalar."""
        return self.constant(np.array(value, np.float32))

    def constant(self, values: NDArray[np.generic]) -> str:
        """A constant; equal ones are written once."""
        key = (values.dtype.str, values.shape, values.tobytes())
        if key not in self._constants:
            name = self._name("Constant")
            self._graph.node.append(
                _node("Constant", [], [name], value=numpy_helper.from_array(values))
            )
            self._constants[key] = name
        return self._constants[key]

    def reshape(self, value: str, *shape: int) -> str:
        """Reshape; 0 keeps a length and -1 takes the rest."""
        return self.op("Reshape", value, self.ints(*shape))

    def cast(self, value: str, kind: int) -> str:
        """Cast to an ONNX element type."""
        return self.op("Cast", value, to=kind)

    def length(self, value: str, axis: int) -> str:
        """The length of an axis as an int64 scalar."""
        return self.op("Gather", self.op("Shape", value), self.integer(axis), axis=0)

    def positions(self, length: str) -> str:
        """0, 1, ... length - 1 as int64."""
        return self.op("Range", self.integer(0), length, self.integer(1))

    def unsqueeze(self, value: str, *axes: int) -> str:
        """Insert axes of length one."""
        return self.op("Unsqueeze", value, self.ints(*axes))

    def slice(self, value: str, start: int, end: int, axis: int, step: int = 1) -> str:
        """Part of an axis."""
        bounds = (self.ints(start), self.ints(end), self.ints(axis), self.ints(step))
        return self.op("Slice", value, *bounds)

    def initializer(self, proto: TensorProto) -> str:
        """A tensor kept with the graph; one of the same name is kept once."""
        if proto.name not in self._initializers:
            self._initializers.add(proto.name)
            self._graph.initializer.append(proto)
        return proto.name

    def save(self, path: Path, producer: str) -> None:
        """Write the graph; its data file lies beside it."""
        for node in self._graph.node:
            for names in (node.input, node.output):
                names[:] = [self._outputs.get(name, name) for name in names]
        domains = {node.domain: 1 for node in self._graph.node if node.domain} | {"": OPSET}
        model = helper.make_model(
            self._graph,
            producer_name=producer,
            ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid(*item) for item in sorted(domains.items())],
        )
        path.write_bytes(model.SerializeToString(deterministic=True))

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"


def _node(
    kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: object
) -> NodeProto:
    node = helper.make_node(kind, inputs, outputs, name=f"/{outputs[0]}")
    node.attribute.extend(helper.make_attribute(key, attributes[key]) for key in sorted(attributes))
    return node
