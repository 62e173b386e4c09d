"""Weights on disk: the external data file that several graphs share."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, external_data_helper

from .tensors import Role, Tensor

# Smaller tensors stay inside the graph, as the publisher's exporter has it.
EXTERNAL_BYTES = 1024


class Filling(Protocol):
    """Where the values of weights come from."""

    def array(self, tensor: Tensor) -> NDArray[np.float32]:
        """The values of one weight, float32 [tensor.shape]; the same at every call."""


class WeightFile:
    """Writes one .data file: unique tensors one after the other, without padding.

    Nothing but the small tensors is kept in memory.
    """

    def __init__(self, path: Path, tensors: Iterable[Tensor], filling: Filling) -> None:
        self._location = path.name
        self._protos: dict[str, TensorProto] = {}
        self._tensors: dict[str, Tensor] = {}
        places: dict[bytes, int] = {}
        with path.open("wb") as stream:
            for tensor in tensors:
                self._tensors[tensor.name] = tensor
                self._protos[tensor.name] = self._write(tensor, filling, stream, places)

    def tensor(self, name: str) -> Tensor:
        """The description of a weight by name; KeyError if the file has none."""
        return self._tensors[name]

    def proto(self, name: str, called: str) -> TensorProto:
        """The initializer of a weight under the name a graph calls it by."""
        proto = TensorProto()
        proto.CopyFrom(self._protos[name])
        proto.name = called
        return proto

    def _write(
        self, tensor: Tensor, filling: Filling, stream: BinaryIO, places: dict[bytes, int]
    ) -> TensorProto:
        values = np.ascontiguousarray(filling.array(tensor), dtype="<f4")
        proto = TensorProto(data_type=TensorProto.FLOAT, dims=tensor.shape)
        if tensor.nbytes < EXTERNAL_BYTES:
            proto.raw_data = values.tobytes()
            return proto
        digest = hashlib.sha256(values.data).digest()
        if digest not in places:
            places[digest] = stream.tell()
            stream.write(values.data)
        # The helper refuses a tensor that has no raw data yet.
        proto.raw_data = b""
        external_data_helper.set_external_data(
            proto, location=self._location, offset=places[digest], length=tensor.nbytes
        )
        proto.ClearField("raw_data")
        return proto


def data_bytes(tensors: Iterable[Tensor]) -> int:
    """The size of the .data file of these weights, in bytes.

    Norm weights of one width are all ones and so are stored once.
    """
    total = 0
    seen: set[object] = set()
    for tensor in tensors:
        key = tensor.shape if tensor.role is Role.NORM_WEIGHT else tensor.name
        if tensor.nbytes >= EXTERNAL_BYTES and key not in seen:
            seen.add(key)
            total += tensor.nbytes
    return total
