"""The published constants of sampling, and the sampler that is part of a graph."""

import numpy as np

from ..graph_writer import BOOL, INT64
from .nodes import Graph

# tts_browser_onnx_meta.json, fixed_sampled_frame_constants. The graph has no temperature, top-p
# or top-k of the text in it: its two candidates are drawn as they are.
TEXT_TEMPERATURE = 1.0
TEXT_TOP_P = 1.0
TEXT_TOP_K = 50
AUDIO_TEMPERATURE = 0.8
AUDIO_TOP_P = 0.95
AUDIO_TOP_K = 25
REPETITION_PENALTY = 1.2
# The float32 just below one; a draw never reaches one.
LARGEST_DRAW = 0.99999994


def clamp_draws(graph: Graph, draws: str) -> str:
    """Random numbers, float32 of any shape, forced into [0, 1)."""
    return graph.op("Clip", draws, graph.number(0.0), graph.number(LARGEST_DRAW))


def draw_code(graph: Graph, logits: str, seen: str, draw: str) -> str:
    """Choose a code by a random number.

    Args:
        graph: The graph that takes the nodes.
        logits: float32 [batch, codebook_size].
        seen: int32 [batch, codebook_size], not zero for codes that came before.
        draw: float32 [batch, 1] in [0, 1).

    Returns:
        The code, int64 [batch].
    """
    scores = graph.op("Div", _penalised(graph, logits, seen), graph.number(AUDIO_TEMPERATURE))
    best, codes = graph.top(scores, AUDIO_TOP_K)
    chances = graph.op("Softmax", best, axis=1)
    before = graph.op("Sub", graph.op("CumSum", chances, graph.integer(1)), chances)
    kept = graph.op("Less", before, graph.number(AUDIO_TOP_P))
    nucleus = graph.op("Where", kept, best, graph.number(-np.inf))
    reached = graph.op("CumSum", graph.op("Softmax", nucleus, axis=1), graph.integer(1))
    passed = graph.cast(graph.op("Less", reached, draw), INT64)
    place = graph.op("ReduceSum", passed, graph.ints(1), keepdims=1)
    place = graph.op("Min", place, graph.integer(AUDIO_TOP_K - 1))
    chosen = graph.op("GatherElements", codes, place, axis=1)
    return graph.op("Squeeze", chosen, graph.ints(1))


def _penalised(graph: Graph, logits: str, seen: str) -> str:
    penalty = graph.number(REPETITION_PENALTY)
    negative = graph.op("Less", logits, graph.number(0.0))
    weaker = graph.op(
        "Where",
        negative,
        graph.op("Mul", logits, penalty),
        graph.op("Div", logits, penalty),
    )
    return graph.op("Where", graph.cast(seen, BOOL), weaker, logits)
