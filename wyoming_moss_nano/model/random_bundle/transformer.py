"""The pre-LN transformer with rotary positions that the global and local graphs share.

Hidden states are float32 [batch, rows, hidden]; keys and values float32
[batch, rows, heads, head_dim]; positions int64 [batch, rows].
"""

import math
from dataclasses import dataclass

import numpy as np

from ..graph_writer import FLOAT, INT64, TO_THE_END
from .nodes import Graph

ROPE_BASE = 10000.0
MASKED = float(np.finfo(np.float32).min)
# The tanh approximation of GELU.
_GELU_CUBIC = 0.044715
_GELU_SCALE = math.sqrt(2 / math.pi)


@dataclass(frozen=True)
class Rotation:
    """Cosines and sines of the rows' positions, each float32 [batch, rows, 1, head_dim]."""

    cos: str
    sin: str


@dataclass(frozen=True)
class KeyValue:
    """The keys and values of one layer."""

    key: str
    value: str


@dataclass(frozen=True)
class Heads:
    """How the hidden width is cut into attention heads."""

    count: int
    width: int


def rotation(graph: Graph, positions: str, width: int) -> Rotation:
    """Cosines and sines for positions int64 [batch, rows] and an even head width."""
    exponents = np.arange(0, width, 2, dtype=np.float64) / width
    frequencies = graph.constant((ROPE_BASE**-exponents).astype(np.float32))
    moments = graph.unsqueeze(graph.cast(positions, FLOAT), 2)
    angles = graph.op("Mul", moments, frequencies)
    pairs = graph.unsqueeze(angles, 3)
    doubled = graph.op("Concat", pairs, pairs, axis=3)
    spread = graph.unsqueeze(graph.reshape(doubled, 0, 0, width), 2)
    return Rotation(graph.op("Cos", spread), graph.op("Sin", spread))


def rotate(graph: Graph, value: str, turn: Rotation, heads: Heads) -> str:
    """Turn interleaved pairs of [batch, rows, heads, head_dim] by their row's angle."""
    even = graph.slice(value, 0, TO_THE_END, axis=3, step=2)
    odd = graph.slice(value, 1, TO_THE_END, axis=3, step=2)
    parts = (graph.unsqueeze(graph.op("Neg", odd), 4), graph.unsqueeze(even, 4))
    quarter = graph.reshape(graph.op("Concat", *parts, axis=4), 0, 0, heads.count, heads.width)
    return graph.op("Add", graph.op("Mul", value, turn.cos), graph.op("Mul", quarter, turn.sin))


def block(
    graph: Graph,
    hidden: str,
    name: str,
    heads: Heads,
    *,
    turn: Rotation,
    mask: str,
    past: KeyValue | None = None,
) -> tuple[str, KeyValue]:
    """One layer: attention and MLP, each after a norm and added to its input.

    Args:
        graph: The graph that takes the nodes.
        hidden: Hidden states.
        name: Prefix of the layer's weights.
        heads: The attention heads.
        turn: Rotation of the rows.
        mask: Bool, broadcast to [batch, heads, rows, keys]; true where a row sees a key.
        past: Keys and values before these rows.

    Returns:
        The new hidden states and all keys and values, the past ones first.
    """
    normed = graph.norm(hidden, f"{name}.ln_1")
    joined, present = _attention(graph, normed, f"{name}.attn", heads, turn, mask, past)
    hidden = graph.op("Add", hidden, joined)
    inner = graph.linear(graph.norm(hidden, f"{name}.ln_2"), f"{name}.mlp.fc_in")
    outer = graph.linear(gelu_tanh(graph, inner), f"{name}.mlp.fc_out")
    return graph.op("Add", hidden, outer), present


def _attention(
    graph: Graph,
    normed: str,
    name: str,
    heads: Heads,
    turn: Rotation,
    mask: str,
    past: KeyValue | None,
) -> tuple[str, KeyValue]:
    query, key, value = (
        graph.reshape(part, 0, 0, heads.count, heads.width)
        for part in graph.split(graph.linear(normed, f"{name}.c_attn"), 3)
    )
    query = rotate(graph, query, turn, heads)
    key = rotate(graph, key, turn, heads)
    if past is not None:
        key = graph.op("Concat", past.key, key, axis=1)
        value = graph.op("Concat", past.value, value, axis=1)
    left = graph.op("Transpose", query, perm=[0, 2, 1, 3])
    right = graph.op("Transpose", key, perm=[0, 2, 3, 1])
    seen = graph.op("Transpose", value, perm=[0, 2, 1, 3])
    scores = graph.op("Mul", graph.op("MatMul", left, right), graph.number(heads.width**-0.5))
    scores = graph.op("Where", mask, scores, graph.number(MASKED))
    mixed = graph.op("MatMul", graph.op("Softmax", scores, axis=-1), seen)
    rows = graph.op("Transpose", mixed, perm=[0, 2, 1, 3])
    merged = graph.reshape(rows, 0, 0, heads.count * heads.width)
    return graph.linear(merged, f"{name}.c_proj"), KeyValue(key, value)


def gelu_tanh(graph: Graph, value: str) -> str:
    """GELU in its tanh approximation."""
    cubic = graph.op("Mul", graph.op("Pow", value, graph.number(3.0)), graph.number(_GELU_CUBIC))
    inner = graph.op("Mul", graph.op("Add", value, cubic), graph.number(_GELU_SCALE))
    gate = graph.op("Add", graph.op("Tanh", inner), graph.number(1.0))
    return graph.op("Mul", graph.op("Mul", value, graph.number(0.5)), gate)


def causal_mask(graph: Graph, rows: str) -> str:
    """Bool [rows, rows]: true where the key is not later than the row."""
    order = graph.positions(rows)
    return graph.op("LessOrEqual", graph.unsqueeze(order, 0), graph.unsqueeze(order, 1))


def step_mask(graph: Graph, lengths: str, keys: str) -> str:
    """Bool [batch, 1, 1, keys]: true where one new row sees a key.

    Args:
        graph: The graph that takes the nodes.
        lengths: Valid rows before the new one, int64 [batch]; also the new row's position.
        keys: Number of keys, the new one included, int64 scalar.
    """
    order = graph.unsqueeze(graph.positions(keys), 0, 1, 2)
    position = graph.unsqueeze(lengths, 1, 2, 3)
    valid = graph.op("Less", order, graph.op("Add", position, graph.integer(1)))
    return graph.op("And", valid, graph.op("LessOrEqual", order, position))


def step_keys(graph: Graph, past: str) -> str:
    """Number of keys after one more row, int64 scalar; `past` is a key cache."""
    return graph.op("Add", graph.length(past, 1), graph.integer(1))


def to_int64(graph: Graph, value: str) -> str:
    """An int32 input as int64."""
    return graph.cast(value, INT64)
