"""local_fixed_sampled_frame: a whole frame, sampled inside the graph."""

from ..frame_sampler import clamp_draws, draw_code
from ..graph_writer import FLOAT, INT32, Shape
from .embedding import audio_states, text_states
from .local_graphs import LocalSteps
from .nodes import Graph
from .sampler import SAMPLING
from .size import BundleSize
from .special import AUDIO_ASSISTANT_SLOT, AUDIO_END
from .transformer import KeyValue


def add_local_fixed_sampled_frame(graph: Graph, size: BundleSize) -> None:
    """Decide whether speech goes on and draw the codes of the next frame.

    Inputs: global_hidden float32 [batch, hidden]; repetition_seen_mask int32
    [batch, codebooks, codebook_size]; assistant_random_u float32 [batch] and audio_random_u
    float32 [batch, codebooks] in [0, 1). Outputs: should_continue int32 [batch, 1] and
    frame_token_ids int32 [batch, codebooks], which mean nothing when should_continue is 0.
    """
    hidden = graph.input("global_hidden", FLOAT, ["batch", size.hidden])
    shape: Shape = ["batch", size.codebooks, size.codebook_size]
    seen = graph.input("repetition_seen_mask", INT32, shape)
    text_draw = graph.input("assistant_random_u", FLOAT, ["batch"])
    audio_draws = graph.input("audio_random_u", FLOAT, ["batch", size.codebooks])

    steps = LocalSteps(graph, size)
    batch = graph.unsqueeze(graph.length(hidden, 0), 0)
    past = [_empty_cache(graph, batch, size) for _ in range(size.local_layers)]
    lengths = graph.op("Expand", graph.ints(0), batch)
    last, past = steps.run(hidden, lengths, past)
    going_on = _going_on(graph, graph.project(last, "text_lm_head"), clamp_draws(graph, text_draw))
    token = graph.op(
        "Where",
        going_on,
        graph.integer(AUDIO_ASSISTANT_SLOT),
        graph.integer(AUDIO_END),
    )
    row = text_states(graph, token)
    draws = clamp_draws(graph, audio_draws)
    codes = []
    for book in range(size.codebooks):
        lengths = graph.op("Add", lengths, graph.integer(1))
        last, past = steps.run(row, lengths, past)
        logits = graph.project(last, f"audio_lm_heads.{book}")
        flags = graph.op("Gather", seen, graph.integer(book), axis=1)
        draw = graph.slice(draws, book, book + 1, axis=1)
        code = draw_code(graph, logits, flags, draw, SAMPLING)
        codes.append(graph.unsqueeze(graph.cast(code, INT32), 1))
        if book + 1 < size.codebooks:
            row = audio_states(graph, code, book)
    decision = graph.unsqueeze(graph.cast(going_on, INT32), 1)
    graph.output(decision, "should_continue", INT32, ["batch", 1])
    frame = graph.op("Concat", *codes, axis=1)
    graph.output(frame, "frame_token_ids", INT32, ["batch", size.codebooks])


def _going_on(graph: Graph, logits: str, draw: str) -> str:
    """Bool [batch]: the draw does not exceed the chance of the slot against the end."""
    candidates = graph.op("Gather", logits, graph.ints(AUDIO_ASSISTANT_SLOT, AUDIO_END), axis=1)
    chances = graph.op("Softmax", candidates, axis=1)
    slot = graph.op("Gather", chances, graph.integer(0), axis=1)
    return graph.op("LessOrEqual", draw, slot)


def _empty_cache(graph: Graph, batch: str, size: BundleSize) -> KeyValue:
    shape = graph.op("Concat", batch, graph.ints(0, size.heads, size.head_dim), axis=0)
    nothing = graph.op("ConstantOfShape", shape)
    return KeyValue(nothing, nothing)
