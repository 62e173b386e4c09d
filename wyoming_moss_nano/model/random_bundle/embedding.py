"""Rows of ids to hidden states."""

from ..graph_writer import FLOAT
from .nodes import Graph
from .size import BundleSize


def text_states(graph: Graph, ids: str) -> str:
    """The text embedding of int64 ids of any shape, one axis longer."""
    return graph.op("Gather", graph.weight("transformer.wte.weight"), ids, axis=0)


def audio_states(graph: Graph, ids: str, book: int) -> str:
    """The embedding of int64 codes of one book, one axis longer."""
    return graph.op("Gather", graph.weight(f"audio_embeddings.{book}.weight"), ids, axis=0)


def chosen_audio_states(graph: Graph, ids: str, book: int, chosen: str) -> str:
    """As `audio_states`, and zero where the bool `chosen` (shaped like ids) is false."""
    safe = graph.op("Where", chosen, ids, graph.integer(0))
    weight = graph.unsqueeze(graph.cast(chosen, FLOAT), -1)
    return graph.op("Mul", audio_states(graph, safe, book), weight)


def padded_audio_states(graph: Graph, ids: str, book: int, size: BundleSize) -> str:
    """As `audio_states`, and zero where the cell is unused."""
    unused = graph.op("Equal", ids, graph.integer(size.codebook_size))
    return chosen_audio_states(graph, ids, book, graph.op("Not", unused))


def row_states(graph: Graph, rows: str, size: BundleSize) -> str:
    """The states of rows int64 [batch, rows, 1 + codebooks], float32 [batch, rows, hidden]."""
    states = text_states(graph, _column(graph, rows, 0))
    for book in range(size.codebooks):
        codes = _column(graph, rows, book + 1)
        states = graph.op("Add", states, padded_audio_states(graph, codes, book, size))
    return states


def _column(graph: Graph, rows: str, column: int) -> str:
    return graph.op("Gather", rows, graph.integer(column), axis=2)
