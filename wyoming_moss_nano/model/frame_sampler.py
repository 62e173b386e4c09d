"""The nodes that draw codes inside a graph, as the published frame graph has them."""

from typing import Final

import numpy as np

from .graph_writer import BOOL, INT64, GraphWriter
from .metadata import SamplingDefaults

# The float32 just below one; a draw never reaches one.
_LARGEST_DRAW: Final = 0.99999994


def clamp_draws(graph: GraphWriter, draws: str) -> str:
    """Random numbers, float32 of any shape, forced into [0, 1)."""
    return graph.op("Clip", draws, graph.number(0.0), graph.number(_LARGEST_DRAW))


def draw_code(
    graph: GraphWriter, logits: str, seen: str, draw: str, sampling: SamplingDefaults
) -> str:
    """Choose a code by a random number.

    Args:
        graph: The graph that takes the nodes.
        logits: float32 [batch, codebook_size].
        seen: int32 [batch, codebook_size], not zero for codes that came before.
        draw: float32 [batch, 1] in [0, 1).
        sampling: Temperature, top-k, top-p and repetition penalty of codes.

    Returns:
        The code, int64 [batch].
    """
    scores = graph.op(
        "Div",
        penalised(graph, logits, seen, sampling.audio_repetition_penalty),
        graph.number(sampling.audio_temperature),
    )
    best, codes = graph.top(scores, sampling.audio_top_k)
    chances = graph.op("Softmax", best, axis=1)
    before = graph.op("Sub", graph.op("CumSum", chances, graph.integer(1)), chances)
    kept = graph.op("Less", before, graph.number(sampling.audio_top_p))
    nucleus = graph.op("Where", kept, best, graph.number(-np.inf))
    reached = graph.op("CumSum", graph.op("Softmax", nucleus, axis=1), graph.integer(1))
    passed = graph.cast(graph.op("Less", reached, draw), INT64)
    place = graph.op("ReduceSum", passed, graph.ints(1), keepdims=1)
    place = graph.op("Min", place, graph.integer(sampling.audio_top_k - 1))
    chosen = graph.op("GatherElements", codes, place, axis=1)
    return graph.op("Squeeze", chosen, graph.ints(1))


def penalised(graph: GraphWriter, logits: str, seen: str, factor: float) -> str:
    """Make the logits of codes that came before smaller by a factor."""
    penalty = graph.number(factor)
    negative = graph.op("Less", logits, graph.number(0.0))
    weaker = graph.op(
        "Where",
        negative,
        graph.op("Mul", logits, penalty),
        graph.op("Div", logits, penalty),
    )
    return graph.op("Where", graph.cast(seen, BOOL), weaker, logits)
