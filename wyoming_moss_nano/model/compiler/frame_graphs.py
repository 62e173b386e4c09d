"""The local transformer as graphs of a whole frame: 17 steps, each weight once."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..bundle import Bundle
from ..frame_sampler import clamp_draws, draw_code, penalised
from ..graph_writer import FLOAT, INT32, INT64, GraphWriter, Shape
from ..metadata import SamplingDefaults
from .arithmetic import Arithmetic
from .audio_table import AudioTable
from .transformer import Attention, Cache, attend, finish, norm, rotation
from .weights import LocalWeights

# Returns int64 [batch]: of 0 and 1, whether to stop, by logits [batch, 2]; or a code, by the
# codebook, its logits and flags of what came before, both [batch, codes].
_ChooseText = Callable[[str], str]
_ChooseCode = Callable[[int, str, str], str]


@dataclass(frozen=True)
class _Choice:
    """How one form of the graph chooses."""

    text: _ChooseText
    code: _ChooseCode


def add_sampled_frame(
    arithmetic: Arithmetic, weights: LocalWeights, audio: AudioTable, bundle: Bundle
) -> None:
    """Write the form that draws codes by random numbers handed in.

    Inputs and the first two outputs as the published local_fixed_sampled_frame; then text_logits
    float32 [batch, 2] of going on and stopping, and audio_logits [batch, codebooks, codes].
    """
    graph, sampling = arithmetic.graph, bundle.frame_sampling
    hidden, seen = _inputs(graph, bundle)
    text_draw = clamp_draws(graph, graph.input("assistant_random_u", FLOAT, ["batch"]))
    shape: Shape = ["batch", bundle.config.n_vq]
    draws = clamp_draws(graph, graph.input("audio_random_u", FLOAT, shape))

    def choose_text(logits: str) -> str:
        chances = graph.op("Softmax", _warmed(graph, logits, sampling), axis=1)
        slot = graph.op("Gather", chances, graph.integer(0), axis=1)
        return graph.cast(graph.op("Greater", text_draw, slot), INT64)

    def choose_code(codebook: int, logits: str, flags: str) -> str:
        draw = graph.slice(draws, codebook, codebook + 1, axis=1)
        return draw_code(graph, logits, flags, draw, sampling)

    _add_frame(arithmetic, weights, audio, bundle, hidden, seen, _Choice(choose_text, choose_code))


def add_greedy_frame(
    arithmetic: Arithmetic, weights: LocalWeights, audio: AudioTable, bundle: Bundle
) -> None:
    """Write the form that takes the likeliest code; equal chances of going on mean going on.

    As the sampled form without random numbers.
    """
    graph = arithmetic.graph
    hidden, seen = _inputs(graph, bundle)

    def choose_text(logits: str) -> str:
        return graph.op("ArgMax", logits, axis=1, keepdims=0)

    def choose_code(_codebook: int, logits: str, flags: str) -> str:
        factor = bundle.sampling.audio_repetition_penalty
        scores = penalised(graph, logits, flags, factor)
        return graph.op("ArgMax", scores, axis=1, keepdims=0)

    _add_frame(arithmetic, weights, audio, bundle, hidden, seen, _Choice(choose_text, choose_code))


def _inputs(graph: GraphWriter, bundle: Bundle) -> tuple[str, str]:
    config = bundle.config
    hidden = graph.input("global_hidden", FLOAT, ["batch", config.hidden_size])
    shape: Shape = ["batch", config.n_vq, max(config.codebook_sizes)]
    return hidden, graph.input("repetition_seen_mask", INT32, shape)


def _warmed(graph: GraphWriter, logits: str, sampling: SamplingDefaults) -> str:
    if sampling.text_temperature == 1.0:
        return logits
    return graph.op("Div", logits, graph.number(sampling.text_temperature))


def _add_frame(
    arithmetic: Arithmetic,
    weights: LocalWeights,
    audio: AudioTable,
    bundle: Bundle,
    hidden: str,
    seen: str,
    choice: _Choice,
) -> None:
    graph, config = arithmetic.graph, bundle.config
    steps = _Steps(arithmetic, weights, bundle, hidden)
    candidates = [bundle.ids.audio_assistant_slot, bundle.ids.audio_end]
    # two columns of the text head are all that is asked for, too few to be worth 8 bits
    head = graph.op(
        "MatMul", steps.run(hidden), arithmetic.stored(weights.text_head[:, candidates])
    )
    stops = choice.text(head)
    table = np.asarray(weights.text_embedding[candidates])
    row = graph.op("Gather", arithmetic.stored(table), stops, axis=0)
    codes, logits = [], []
    for codebook in range(config.n_vq):
        scores = arithmetic.product(steps.run(row), weights.audio_heads[codebook])
        flags = graph.op("Gather", seen, graph.integer(codebook), axis=1)
        code = choice.code(codebook, scores, flags)
        codes.append(graph.unsqueeze(graph.cast(code, INT32), 1))
        logits.append(graph.unsqueeze(scores, 1))
        if codebook + 1 < config.n_vq:
            row = audio.of(arithmetic, codebook, code)
    going_on = graph.op("Sub", graph.integer(1), stops)
    decision = graph.unsqueeze(graph.cast(going_on, INT32), 1)
    graph.output(decision, "should_continue", INT32, ["batch", 1])
    graph.output(
        graph.op("Concat", *codes, axis=1), "frame_token_ids", INT32, ["batch", config.n_vq]
    )
    graph.output(head, "text_logits", FLOAT, ["batch", 2])
    shape: Shape = ["batch", config.n_vq, max(config.codebook_sizes)]
    graph.output(graph.op("Concat", *logits, axis=1), "audio_logits", FLOAT, shape)


class _Steps:
    """The local transformer row by row; each run adds one row to the caches."""

    def __init__(
        self, arithmetic: Arithmetic, weights: LocalWeights, bundle: Bundle, hidden: str
    ) -> None:
        config, graph = bundle.config, arithmetic.graph
        self._arithmetic = arithmetic
        self._transformer = weights.transformer
        self._heads = config.local_heads
        self._cos, self._sin = rotation(arithmetic, config.row_width, config.local_head_dim)
        self._batch = graph.unsqueeze(graph.length(hidden, 0), 0)
        sizes = graph.ints(config.local_heads, config.row_width, config.local_head_dim)
        shape = graph.op("Concat", self._batch, sizes, axis=0)
        nothing = graph.op("ConstantOfShape", shape)
        self._caches = [Cache(nothing, nothing)] * config.local_layers
        self._position = 0

    def run(self, row: str) -> str:
        """Read a row [batch, hidden]; return the final state [batch, hidden]."""
        graph = self._arithmetic.graph
        position = graph.constant(np.array([self._position], np.int32))
        attention = Attention(
            heads=self._heads,
            lengths=graph.op("Expand", position, self._batch),
            longest=graph.constant(np.array([self._position + 1], np.int32)),
            cos=self._cos,
            sin=self._sin,
        )
        hidden = graph.unsqueeze(row, 1)
        for layer, block in enumerate(self._transformer.blocks):
            seen, self._caches[layer] = attend(
                self._arithmetic, hidden, block, attention, self._caches[layer]
            )
            hidden = finish(self._arithmetic, hidden, seen, block)
        self._position += 1
        last = norm(self._arithmetic, hidden, self._transformer.final_norm)
        return graph.op("Squeeze", last, graph.ints(1))
