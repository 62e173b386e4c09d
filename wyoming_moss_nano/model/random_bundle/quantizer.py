"""The residual quantiser between latent frames and codes."""

from ..graph_writer import INT32
from .nodes import Graph
from .size import BundleSize

_SMALLEST_NORM = 1e-12


def dequantize(graph: Graph, codes: str, size: BundleSize) -> str:
    """Latent frames of codes.

    Args:
        graph: The graph that takes the nodes.
        codes: int64 [batch, frames, codebooks].
        size: The bundle's dimensions.

    Returns:
        float32 [batch, frames, codec_latent].
    """
    total = ""
    for book in range(size.codebooks):
        chosen = graph.op("Gather", codes, graph.integer(book), axis=2)
        part = _vector(graph, chosen, book)
        total = graph.op("Add", total, part) if total else part
    return graph.linear(total, "quantizer.output_proj")


def quantize(graph: Graph, latent: str, size: BundleSize) -> str:
    """Codes of latent frames float32 [batch, frames, codec_latent].

    Returns:
        int32 [batch, frames, codebooks]: per book the entry of which the direction is nearest,
        taken of what the books before have left over.
    """
    rest = graph.linear(latent, "quantizer.input_proj")
    codes = []
    for book in range(size.codebooks):
        wanted = _unit(graph, graph.linear(rest, f"quantizer.{book}.in_proj"))
        entries = _unit(graph, graph.weight(f"quantizer.{book}.codebook.weight"))
        # Between unit vectors the nearest is the one with the largest product.
        nearness = graph.op("MatMul", wanted, graph.op("Transpose", entries, perm=[1, 0]))
        code = graph.op("ArgMax", nearness, axis=-1, keepdims=0)
        codes.append(graph.unsqueeze(graph.cast(code, INT32), 2))
        if book + 1 < size.codebooks:
            rest = graph.op("Sub", rest, _vector(graph, code, book))
    return graph.op("Concat", *codes, axis=2)


def _vector(graph: Graph, codes: str, book: int) -> str:
    entries = graph.weight(f"quantizer.{book}.codebook.weight")
    raw = graph.op("Gather", entries, codes, axis=0)
    return graph.linear(raw, f"quantizer.{book}.out_proj")


def _unit(graph: Graph, vectors: str) -> str:
    norm = graph.op("ReduceL2", vectors, axes=[-1], keepdims=1)
    return graph.op("Div", vectors, graph.op("Max", norm, graph.number(_SMALLEST_NORM)))
