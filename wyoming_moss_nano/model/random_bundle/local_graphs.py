"""The local transformer as one pass over a frame and as one step with a cache."""

from ..graph_writer import FLOAT, INT32, Shape
from .embedding import chosen_audio_states, padded_audio_states, text_states
from .nodes import Graph
from .size import BundleSize
from .transformer import (
    Heads,
    KeyValue,
    block,
    causal_mask,
    rotation,
    step_keys,
    step_mask,
    to_int64,
)

# local_cached_step's step_type: which of its inputs the row is made of.
FROM_GLOBAL, FROM_TEXT, FROM_AUDIO = 0, 1, 2


def add_local_decoder(graph: Graph, size: BundleSize) -> None:
    """Every logit of one frame in one pass.

    Inputs, batch 1: global_hidden float32 [1, hidden], text_token_id int32 [1],
    audio_prefix_token_ids int32 [1, codebooks - 1]. Outputs: text_logits float32
    [1, vocabulary] and audio_logits float32 [1, codebooks, codebook_size].
    """
    first = graph.input("global_hidden", FLOAT, [1, size.hidden])
    text = graph.input("text_token_id", INT32, [1])
    prefix = graph.input("audio_prefix_token_ids", INT32, [1, size.codebooks - 1])
    codes = to_int64(graph, prefix)
    rows = [first, text_states(graph, to_int64(graph, text))]
    for book in range(size.codebooks - 1):
        ids = graph.op("Gather", codes, graph.integer(book), axis=1)
        rows.append(padded_audio_states(graph, ids, book, size))
    hidden = graph.op("Concat", *(graph.unsqueeze(row, 1) for row in rows), axis=1)
    order = graph.positions(graph.integer(size.row_width))
    turn = rotation(graph, graph.unsqueeze(order, 0), size.head_dim)
    mask = causal_mask(graph, graph.integer(size.row_width))
    heads = Heads(size.heads, size.head_dim)
    for layer in range(size.local_layers):
        name = f"local_transformer.h.{layer}"
        hidden, _ = block(graph, hidden, name, heads, turn=turn, mask=mask)
    hidden = graph.norm(hidden, "local_transformer.ln_f")
    text_logits = graph.project(_row(graph, hidden, 0), "text_lm_head")
    logits = [
        graph.project(_row(graph, hidden, book + 1), f"audio_lm_heads.{book}")
        for book in range(size.codebooks)
    ]
    stacked = graph.op("Concat", *(graph.unsqueeze(part, 1) for part in logits), axis=1)
    graph.output(text_logits, "text_logits", FLOAT, [1, size.vocabulary])
    graph.output(stacked, "audio_logits", FLOAT, [1, size.codebooks, size.codebook_size])


def add_local_cached_step(graph: Graph, size: BundleSize) -> None:
    """The logits of all heads after one row of a frame.

    Inputs: global_hidden float32 [batch, hidden]; text_token_id, audio_token_id, channel_index,
    step_type and past_valid_lengths int32 [batch]; per layer local_past_key_i and
    local_past_value_i float32 [batch, local_past_seq, heads, head_dim]. Outputs: text_logits
    float32 [batch, vocabulary], audio_logits float32 [batch, codebooks, codebook_size] and the
    caches, one row longer.
    """
    first = graph.input("global_hidden", FLOAT, ["batch", size.hidden])
    text, code, book, kind, lengths = (
        to_int64(graph, graph.input(name, INT32, ["batch"]))
        for name in (
            "text_token_id",
            "audio_token_id",
            "channel_index",
            "step_type",
            "past_valid_lengths",
        )
    )
    past = [_past(graph, layer, size) for layer in range(size.local_layers)]
    states = (
        (first, FROM_GLOBAL),
        (text_states(graph, text), FROM_TEXT),
        (_selected_audio(graph, code, book, size), FROM_AUDIO),
    )
    used = [_only_if(graph, state, kind, wanted) for state, wanted in states]
    row = graph.op("Add", graph.op("Add", used[0], used[1]), used[2])
    steps = LocalSteps(graph, size)
    hidden, presents = steps.run(row, lengths, past)
    text_logits = graph.project(hidden, "text_lm_head")
    logits = [
        graph.unsqueeze(graph.project(hidden, f"audio_lm_heads.{channel}"), 1)
        for channel in range(size.codebooks)
    ]
    stacked = graph.op("Concat", *logits, axis=1)
    graph.output(text_logits, "text_logits", FLOAT, ["batch", size.vocabulary])
    shape: Shape = ["batch", size.codebooks, size.codebook_size]
    graph.output(stacked, "audio_logits", FLOAT, shape)
    cache: Shape = ["batch", "local_total_seq", size.heads, size.head_dim]
    for layer, present in enumerate(presents):
        graph.output(present.key, f"local_present_key_{layer}", FLOAT, cache)
        graph.output(present.value, f"local_present_value_{layer}", FLOAT, cache)


class LocalSteps:
    """The local transformer, one row at a time."""

    def __init__(self, graph: Graph, size: BundleSize) -> None:
        self._graph = graph
        self._size = size
        self._heads = Heads(size.heads, size.head_dim)

    def run(self, row: str, lengths: str, past: list[KeyValue]) -> tuple[str, list[KeyValue]]:
        """Take one row.

        Args:
            row: Its state, float32 [batch, hidden].
            lengths: Rows before it, int64 [batch].
            past: Keys and values of those rows, per layer.

        Returns:
            The final state, float32 [batch, hidden], and the longer caches.
        """
        graph = self._graph
        mask = step_mask(graph, lengths, step_keys(graph, past[0].key))
        turn = rotation(graph, graph.unsqueeze(lengths, 1), self._size.head_dim)
        hidden = graph.unsqueeze(row, 1)
        presents = []
        for layer, before in enumerate(past):
            name = f"local_transformer.h.{layer}"
            hidden, present = block(
                graph, hidden, name, self._heads, turn=turn, mask=mask, past=before
            )
            presents.append(present)
        return _row(graph, graph.norm(hidden, "local_transformer.ln_f"), 0), presents


def _row(graph: Graph, hidden: str, row: int) -> str:
    return graph.op("Gather", hidden, graph.integer(row), axis=1)


def _past(graph: Graph, layer: int, size: BundleSize) -> KeyValue:
    shape: Shape = ["batch", "local_past_seq", size.heads, size.head_dim]
    return KeyValue(
        graph.input(f"local_past_key_{layer}", FLOAT, shape),
        graph.input(f"local_past_value_{layer}", FLOAT, shape),
    )


def _selected_audio(graph: Graph, code: str, book: str, size: BundleSize) -> str:
    state = ""
    for channel in range(size.codebooks):
        chosen = graph.op("Equal", book, graph.integer(channel))
        part = chosen_audio_states(graph, code, channel, chosen)
        state = graph.op("Add", state, part) if state else part
    return state


def _only_if(graph: Graph, state: str, kind: str, wanted: int) -> str:
    chosen = graph.op("Equal", kind, graph.integer(wanted))
    return graph.op("Mul", state, graph.unsqueeze(graph.cast(chosen, FLOAT), -1))
