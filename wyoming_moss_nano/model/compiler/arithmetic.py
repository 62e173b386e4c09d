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

    @abstractmethod
    def lookup(self, table: Values, ids: str) -> str:
        """Return float32 rows of a table [entries, hidden] by int64 ids of any shape."""


class Float32(Arithmetic):
    """The arithmetic of the published graphs."""

    def product(self, value: str, weight: Values) -> str:
        """See Arithmetic.product."""
        return self.graph.op("MatMul", value, self.stored(weight))

    def lookup(self, table: Values, ids: str) -> str:
        """See Arithmetic.lookup."""
        return self.graph.op("Gather", self.stored(table), ids, axis=0)


class Int8(Arithmetic):
    """Weights with a scale per column, activations with a scale per row.

    ONNX Runtime's own dynamic quantisation has one scale for all rows of a call, which would make a
    row's result depend on its neighbours.

    Args:
        levels: activations become whole numbers from -levels to levels; 127, or 63 where the
            processor adds two products in 16 bits, which 127 would overflow.
    """

    def __init__(self, graph: GraphWriter, file: WeightsFile, levels: int = INT8_MOST) -> None:
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

    def lookup(self, table: Values, ids: str) -> str:
        """See Arithmetic.lookup; each row of a table has a scale of its own."""
        whole, scale = quantized_columns(table.T)
        graph = self.graph
        rows = graph.op("Gather", self.stored(np.ascontiguousarray(whole.T)), ids, axis=0)
        scales = graph.op("Gather", self.stored(scale[:, np.newaxis]), ids, axis=0)
        return graph.op("Mul", graph.cast(rows, FLOAT), scales)

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
