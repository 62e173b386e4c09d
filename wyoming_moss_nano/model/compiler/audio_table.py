"""The embeddings of all codebooks as one table, which the graphs share."""

import numpy as np

from .arithmetic import Arithmetic
from .weights import Values


class AudioTable:
    """Rows of codebook 0, a row of zeros for its pad, rows of codebook 1, and so on."""

    def __init__(self, tables: tuple[Values, ...]) -> None:
        nothing = np.zeros((1, tables[0].shape[1]), np.float32)
        self._values = np.concatenate([part for table in tables for part in (table, nothing)])
        self._pads = np.array([len(table) for table in tables], np.int64)
        self._starts = np.concatenate([[0], np.cumsum(self._pads + 1)[:-1]]).astype(np.int64)

    def rows_of(self, arithmetic: Arithmetic, codes: str) -> str:
        """Return the sum of the embeddings of codes int64 [batch, rows, codebooks]; pads add none.

        Float32 [batch, rows, hidden].
        """
        graph = arithmetic.graph
        inside = graph.op("Min", codes, graph.constant(self._pads))
        ids = graph.op("Add", inside, graph.constant(self._starts))
        states = arithmetic.lookup(self._values, ids)
        # not ReduceSum, whose order of adding depends on the number of rows
        parts = graph.split(states, len(self._pads), axis=2)
        return graph.op("Squeeze", graph.op("Sum", *parts), graph.ints(2))

    def of(self, arithmetic: Arithmetic, codebook: int, codes: str) -> str:
        """Return the embeddings float32 [batch, hidden] of codes int64 [batch] of one codebook."""
        graph = arithmetic.graph
        ids = graph.op("Add", codes, graph.integer(int(self._starts[codebook])))
        return arithmetic.lookup(self._values, ids)
