"""How products with weights are computed: in float32, or in 8 bits with a scale per row.

Either way a row's result is the same whatever other rows share the call.
"""

from abc import ABC, abstractmethod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from ..graph_writer import FLOAT, GraphWriter
from .weights import Linear, Values
from .weights_file import WeightsFile

INT8_MOST: Final = 127
# Rows of zeros have no largest value to divide by.
_LEAST_SCALE: Final = 1e-30


class Arithmetic(ABC):
    """Writes products into one graph."""

    def __init__(self, graph: GraphWriter, file: WeightsFile) -> None:
        self.graph = graph
        self._file = file
        self._tables: dict[int, tuple[Values, tuple[str, ...]]] = {}

    def stored(self, values: NDArray[Any]) -> str:
        """Return the value of an array kept in the data file."""
        return self.graph.initializer(self._file.add(values))

    def linear(self, value: str, linear: Linear) -> str:
        """Return ``value @ weight + bias`` [..., out]."""
        product = self.product(value, linear.weight)
        return self.graph.op("Add", product, self.stored(linear.bias))

    @abstractmethod
    def product(self, value: str, weight: Values) -> str:
        """Return ``value @ weight`` [..., out] for a weight [in, out]."""

    def lookup(self, table: Values, ids: str) -> str:
        """Return float32 rows of a table [entries, hidden] by int64 ids of any shape."""
        if id(table) not in self._tables:
            # kept, or another table could take its place in memory
            self._tables[id(table)] = table, self._stored_table(table)
        return self._rows_of(self._tables[id(table)][1], ids)

    @abstractmethod
    def _stored_table(self, table: Values) -> tuple[str, ...]:
        """Return the values of what is kept of a table."""

    @abstractmethod
    def _rows_of(self, stored: tuple[str, ...], ids: str) -> str:
        """Return float32 rows of what is kept of a table."""

    def _shared(self, values: NDArray[Any]) -> str:
        """Return the value of an array that graphs share in memory."""
        return self.graph.initializer(self._file.add_table(values))


class Float32(Arithmetic):
    """The arithmetic of the published graphs."""

    def product(self, value: str, weight: Values) -> str:
        """See Arithmetic.product."""
        return self.graph.op("MatMul", value, self.stored(weight))

    def _stored_table(self, table: Values) -> tuple[str, ...]:
        return (self._shared(table),)

    def _rows_of(self, stored: tuple[str, ...], ids: str) -> str:
        return self.graph.op("Gather", stored[0], ids, axis=0)


class Int8(Arithmetic):
    """Weights with a scale per column, activations with a scale per row.

    ONNX Runtime's own dynamic quantisation has one scale for all rows of a call, which would make a
    row's result depend on its neighbours.

    Args:
        levels: activations become whole numbers from -levels to levels; see activation_levels.
    """

    def __init__(self, graph: GraphWriter, file: WeightsFile, levels: int) -> None:
        super().__init__(graph, file)
        self._levels = levels
        self._rows: dict[str, tuple[str, str]] = {}

    def product(self, value: str, weight: Values) -> str:
        """See Arithmetic.product."""
        graph = self.graph
        rounded, row_scale = self._quantized(value)
        whole, column_scale = quantized_columns(weight)
        middle = graph.constant(np.array(self._levels + 1, np.uint8))
        sums = graph.op("MatMulInteger", rounded, self.stored(whole), middle)
        scaled = graph.op("Mul", graph.cast(sums, FLOAT), row_scale)
        return graph.op("Mul", scaled, self.stored(column_scale))

    def _stored_table(self, table: Values) -> tuple[str, ...]:
        # each row has a scale of its own
        whole, scale = quantized_columns(table.T)
        return self._shared(whole.T), self.stored(scale[:, np.newaxis])

    def _rows_of(self, stored: tuple[str, ...], ids: str) -> str:
        rows, scales = (self.graph.op("Gather", part, ids, axis=0) for part in stored)
        return self.graph.op("Mul", self.graph.cast(rows, FLOAT), scales)

    def _quantized(self, value: str) -> tuple[str, str]:
        """Return a value as uint8 around levels + 1, and the scale [..., 1] of each row.

        Products that read the same value share it.
        """
        if value not in self._rows:
            graph = self.graph
            largest = graph.op("ReduceMax", graph.op("Abs", value), axes=[-1], keepdims=1)
            largest = graph.op("Max", largest, graph.number(_LEAST_SCALE))
            steps = graph.op("Div", graph.number(self._levels), largest)
            moved = graph.op("Add", graph.op("Mul", value, steps), graph.number(self._levels + 1))
            whole = graph.cast(graph.op("Round", moved), TensorProto.UINT8)
            scale = graph.op("Div", largest, graph.number(self._levels))
            self._rows[value] = whole, scale
        return self._rows[value]


def quantized_columns(weight: Values) -> tuple[NDArray[np.int8], Values]:
    """Return a weight [in, out] as int8, and the float32 scale [out] of each column."""
    scale = np.maximum(np.abs(weight).max(axis=0), _LEAST_SCALE) / np.float32(INT8_MOST)
    return np.rint(weight / scale).astype(np.int8), scale.astype(np.float32)
