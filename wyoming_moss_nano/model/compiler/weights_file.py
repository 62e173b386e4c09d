"""The data file of compiled graphs: every distinct array once."""

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, external_data_helper, helper

# ONNX Runtime maps external data into memory; whole cache lines start at these.
_ALIGNMENT: Final = 64
# Smaller arrays stay in the graph: ONNX Runtime wants shapes and scalars there.
_EXTERNAL_BYTES: Final = 1024


class WeightsFile:
    """Writes arrays one after the other; use it in a ``with`` statement."""

    def __init__(self, path: Path) -> None:
        self._location = path.name
        self._stream = path.open("wb")
        self._protos: dict[bytes, TensorProto] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.close()

    def add(self, values: NDArray[Any]) -> TensorProto:
        """Return the initializer of an array; equal arrays share one, also between graphs."""
        values = np.ascontiguousarray(values)
        kind = helper.np_dtype_to_tensor_dtype(values.dtype)
        digest = hashlib.sha256(f"{kind} {values.shape} ".encode())
        digest.update(values.data)
        key = digest.digest()
        if key not in self._protos:
            self._protos[key] = self._write(values, kind, f"weight_{len(self._protos)}")
        return self._protos[key]

    def _write(self, values: NDArray[Any], kind: int, name: str) -> TensorProto:
        proto = TensorProto(name=name, data_type=kind, dims=values.shape)
        if values.nbytes < _EXTERNAL_BYTES:
            proto.raw_data = values.tobytes()
            return proto
        self._stream.write(bytes(-self._stream.tell() % _ALIGNMENT))
        # the helper refuses a tensor that has no raw data yet
        proto.raw_data = b""
        external_data_helper.set_external_data(
            proto, location=self._location, offset=self._stream.tell(), length=values.nbytes
        )
        proto.ClearField("raw_data")
        self._stream.write(values.data)
        return proto
