"""The data files of compiled graphs: every distinct array once."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, external_data_helper, helper

from ..compiled import TABLE_PREFIX, TABLE_SUFFIX

# ONNX Runtime maps external data into memory; whole cache lines start at these.
_ALIGNMENT: Final = 64
# Smaller arrays stay in the graph: ONNX Runtime wants shapes and scalars there.
_EXTERNAL_BYTES: Final = 1024


class WeightsFile:
    """Writes arrays one after the other; use it in a ``with`` statement."""

    def __init__(self, path: Path) -> None:
        self._folder = path.parent
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
        return self._known(np.ascontiguousarray(values), self._write)

    def add_table(self, values: NDArray[Any]) -> TensorProto:
        """As ``add``, for what is looked up: a NumPy file that is mapped once for all graphs."""
        return self._known(np.ascontiguousarray(values), self._write_table)

    def _known(
        self, values: NDArray[Any], write: Callable[[NDArray[Any]], TensorProto]
    ) -> TensorProto:
        digest = hashlib.sha256(f"{values.dtype} {values.shape} ".encode())
        digest.update(values.data)
        key = digest.digest()
        if key not in self._protos:
            self._protos[key] = write(values)
        return self._protos[key]

    def _write(self, values: NDArray[Any]) -> TensorProto:
        proto = self._proto(f"weight_{len(self._protos)}", values)
        if values.nbytes < _EXTERNAL_BYTES:
            proto.raw_data = values.tobytes()
            return proto
        self._stream.write(bytes(-self._stream.tell() % _ALIGNMENT))
        _place(proto, self._location, self._stream.tell(), values.nbytes)
        self._stream.write(values.data)
        return proto

    def _write_table(self, values: NDArray[Any]) -> TensorProto:
        name = f"{TABLE_PREFIX}{len(self._protos)}"
        path = self._folder / f"{name}{TABLE_SUFFIX}"
        np.save(path, values)
        proto = self._proto(name, values)
        _place(proto, path.name, path.stat().st_size - values.nbytes, values.nbytes)
        return proto

    def _proto(self, name: str, values: NDArray[Any]) -> TensorProto:
        kind = helper.np_dtype_to_tensor_dtype(values.dtype)
        return TensorProto(name=name, data_type=kind, dims=values.shape)


def _place(proto: TensorProto, location: str, offset: int, length: int) -> None:
    # the helper refuses a tensor that has no raw data yet
    proto.raw_data = b""
    external_data_helper.set_external_data(proto, location=location, offset=offset, length=length)
    proto.ClearField("raw_data")
