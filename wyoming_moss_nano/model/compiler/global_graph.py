"""The global transformer as one graph, for prompts and for single rows."""

from ..compiled import MOST_ROWS
from ..graph_writer import FLOAT, INT32, INT64, Shape
from ..metadata import ModelConfig
from .arithmetic import Arithmetic
from .audio_table import AudioTable
from .transformer import Attention, Cache, attend, finish, norm, rotation
from .weights import GlobalWeights


def add_global(
    arithmetic: Arithmetic, weights: GlobalWeights, audio: AudioTable, config: ModelConfig
) -> None:
    """Write the graph.

    Inputs: input_ids int32 [batch, rows, row_width]; lengths int32 [batch], the rows of each entry
    with these, less one; longest int32 [1], the most of them; and, per layer, past_key_i and
    past_value_i float32 [batch, heads, capacity, head_dim]. Several rows at once need batch 1.
    Outputs: global_hidden float32 [batch, hidden] of the last row; present_key_i and
    present_value_i, which are meant to be the memory of the past ones.
    """
    graph = arithmetic.graph
    rows = graph.input("input_ids", INT32, ["batch", "rows", config.row_width])
    cos, sin = rotation(arithmetic, MOST_ROWS, config.head_dim)
    attention = Attention(
        heads=config.global_heads,
        lengths=graph.input("lengths", INT32, ["batch"]),
        longest=graph.input("longest", INT32, [1]),
        cos=cos,
        sin=sin,
    )
    shape: Shape = ["batch", config.global_heads, "capacity", config.head_dim]
    caches = [
        Cache(
            graph.input(f"past_key_{layer}", FLOAT, shape),
            graph.input(f"past_value_{layer}", FLOAT, shape),
        )
        for layer in range(config.global_layers)
    ]
    hidden = _embed(arithmetic, rows, weights, audio)
    blocks = weights.transformer.blocks
    for layer, (block, past) in enumerate(zip(blocks, caches, strict=True)):
        seen, present = attend(arithmetic, hidden, block, attention, past)
        graph.output(present.keys, f"present_key_{layer}", FLOAT, shape)
        graph.output(present.values, f"present_value_{layer}", FLOAT, shape)
        if layer == len(blocks) - 1:
            # nothing reads the other rows any more
            seen, hidden = (graph.op("Gather", v, graph.ints(-1), axis=1) for v in (seen, hidden))
        hidden = finish(arithmetic, hidden, seen, block)
    last = norm(arithmetic, hidden, weights.transformer.final_norm)
    last = graph.op("Squeeze", last, graph.ints(1))
    graph.output(last, "global_hidden", FLOAT, ["batch", config.hidden_size])


def _embed(arithmetic: Arithmetic, rows: str, weights: GlobalWeights, audio: AudioTable) -> str:
    """Return the states of rows: the text's embedding and that of every code."""
    graph = arithmetic.graph
    text = graph.op("Gather", rows, graph.integer(0), axis=2)
    codes = graph.cast(graph.slice(rows, 1, len(weights.audio_embeddings) + 1, axis=2), INT64)
    states = arithmetic.lookup(weights.text_embedding, text)
    return graph.op("Add", states, audio.rows_of(arithmetic, codes))
