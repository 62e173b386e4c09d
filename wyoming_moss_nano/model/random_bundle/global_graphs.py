"""The global transformer: prefill and decode_step."""

from ..graph_writer import FLOAT, INT32, Shape
from .embedding import row_states
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


def add_prefill(graph: Graph, size: BundleSize) -> None:
    """Hidden states, keys and values of a whole prompt.

    Inputs and outputs as the published graph: input_ids int32 [batch, prefill_seq, row_width]
    and attention_mask int32 [batch, prefill_seq]; global_hidden and, per layer, present_key_i
    and present_value_i float32 [batch, prefill_seq, heads, head_dim].
    """
    rows = graph.input("input_ids", INT32, ["batch", "prefill_seq", size.row_width])
    valid = to_int64(graph, graph.input("attention_mask", INT32, ["batch", "prefill_seq"]))
    heads = Heads(size.heads, size.head_dim)
    count = graph.op("CumSum", valid, graph.integer(1))
    # A row that is masked out has position 0.
    positions = graph.op("Mul", graph.op("Sub", count, graph.integer(1)), valid)
    seen = graph.op("Greater", valid, graph.integer(0))
    mask = graph.op("And", causal_mask(graph, graph.length(rows, 1)), graph.unsqueeze(seen, 1, 2))
    kept = graph.unsqueeze(graph.cast(valid, FLOAT), -1)
    turn = rotation(graph, positions, size.head_dim)
    hidden = graph.op("Mul", row_states(graph, to_int64(graph, rows), size), kept)
    presents = []
    for layer in range(size.global_layers):
        name = f"transformer.h.{layer}"
        hidden, present = block(graph, hidden, name, heads, turn=turn, mask=mask)
        hidden = graph.op("Mul", hidden, kept)
        presents.append(present)
    hidden = graph.op("Mul", graph.norm(hidden, "transformer.ln_f"), kept)
    graph.output(hidden, "global_hidden", FLOAT, ["batch", "prefill_seq", size.hidden])
    _add_presents(graph, presents, size, "prefill_seq")


def add_decode_step(graph: Graph, size: BundleSize) -> None:
    """Hidden state of one more row.

    Inputs and outputs as the published graph: input_ids int32 [batch, step_seq, row_width]
    with step_seq 1, past_valid_lengths int32 [batch] equal to past_seq, and per layer
    past_key_i, past_value_i float32 [batch, past_seq, heads, head_dim]; global_hidden float32
    [batch, step_seq, hidden] and the caches, total_seq long.
    """
    rows = graph.input("input_ids", INT32, ["batch", "step_seq", size.row_width])
    lengths = to_int64(graph, graph.input("past_valid_lengths", INT32, ["batch"]))
    past = [_past(graph, layer, size) for layer in range(size.global_layers)]
    heads = Heads(size.heads, size.head_dim)
    mask = step_mask(graph, lengths, step_keys(graph, past[0].key))
    turn = rotation(graph, graph.unsqueeze(lengths, 1), size.head_dim)
    hidden = row_states(graph, to_int64(graph, rows), size)
    presents = []
    for layer, before in enumerate(past):
        name = f"transformer.h.{layer}"
        hidden, present = block(graph, hidden, name, heads, turn=turn, mask=mask, past=before)
        presents.append(present)
    hidden = graph.norm(hidden, "transformer.ln_f")
    graph.output(hidden, "global_hidden", FLOAT, ["batch", "step_seq", size.hidden])
    _add_presents(graph, presents, size, "total_seq")


def _past(graph: Graph, layer: int, size: BundleSize) -> KeyValue:
    shape: Shape = ["batch", "past_seq", size.heads, size.head_dim]
    return KeyValue(
        graph.input(f"past_key_{layer}", FLOAT, shape),
        graph.input(f"past_value_{layer}", FLOAT, shape),
    )


def _add_presents(graph: Graph, presents: list[KeyValue], size: BundleSize, length: str) -> None:
    shape: Shape = ["batch", length, size.heads, size.head_dim]
    for layer, present in enumerate(presents):
        graph.output(present.key, f"present_key_{layer}", FLOAT, shape)
        graph.output(present.value, f"present_value_{layer}", FLOAT, shape)
