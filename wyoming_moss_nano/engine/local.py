"""From a hidden state to one frame: the local transformer in its three sampling modes.

Sampled by the graph (fixed), or step by step with the host choosing each code (greedy and full).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ..model.bundle import Bundle
from ..model.contract import LOCAL_STEP_SCALARS
from ..model.sessions import Graph, Sessions
from .sampling import FloatArray, RandomStream, SeenCodes, most_likely, sampled

# Inputs of a local step, as the graph's step_type counts them.
_HIDDEN, _TEXT, _CODE = range(3)

SAMPLE_MODES: Final = ("fixed", "greedy", "full")


@dataclass(frozen=True)
class Turn:
    """What the next frame of one piece depends on beside its hidden state."""

    seen: SeenCodes
    stream: RandomStream


class FrameSampler(Protocol):
    """Makes one frame of each of several pieces; keeps nothing between calls."""

    def frames(self, hidden: FloatArray, turns: Sequence[Turn]) -> list[NDArray[np.int32] | None]:
        """Return the codes [n_vq] that follow each hidden state [pieces, hidden size], or None.

        None means to stop. A piece's frame does not depend on the other pieces.
        """


class FrameSamplers(Protocol):
    """The samplers of one model."""

    def sampler(self, mode: str) -> FrameSampler:
        """Return the sampler of one of SAMPLE_MODES, the same at every call."""


class PublishedSamplers:
    """The samplers that the published graphs make; each graph is loaded when first asked for."""

    def __init__(self, bundle: Bundle, sessions: Sessions) -> None:
        self._bundle = bundle
        self._sessions = sessions
        self._made: dict[str, FrameSampler] = {}

    def sampler(self, mode: str) -> FrameSampler:
        """See FrameSamplers.sampler."""
        if mode not in self._made:
            self._made[mode] = self._make(mode)
        return self._made[mode]

    def _make(self, mode: str) -> FrameSampler:
        if mode == "fixed":
            return EachSampled(self._sessions.graph("local_fixed_sampled_frame"))
        steps = LocalSteps(self._bundle, self._sessions.graph("local_cached_step"))
        return {"greedy": GreedySampler, "full": FullSampler}[mode](self._bundle, steps)


class SampledTogether:
    """Frames sampled inside a graph, from random numbers handed to it, all pieces in one call."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def frames(self, hidden: FloatArray, turns: Sequence[Turn]) -> list[NDArray[np.int32] | None]:
        """See FrameSampler.frames; a frame that stops draws its random numbers, too."""
        seen = np.concatenate([turn.seen.mask for turn in turns])
        draws = [turn.stream.draw_clamped(1 + seen.shape[1]) for turn in turns]
        return _frames_of(
            self._graph.run(
                {
                    "global_hidden": hidden,
                    "repetition_seen_mask": seen,
                    "assistant_random_u": np.array([draw[0] for draw in draws]),
                    "audio_random_u": np.stack([draw[1:] for draw in draws]),
                }
            )
        )


class EachSampled:
    """As SampledTogether, piece by piece.

    The published graph would take them together, but then its sums are not the publisher's.
    """

    def __init__(self, graph: Graph) -> None:
        self._together = SampledTogether(graph)

    def frames(self, hidden: FloatArray, turns: Sequence[Turn]) -> list[NDArray[np.int32] | None]:
        """See FrameSampler.frames."""
        return [
            self._together.frames(hidden[place : place + 1], [turn])[0]
            for place, turn in enumerate(turns)
        ]


class GreedyTogether:
    """Frames of the most likely codes, chosen inside a graph, all pieces in one call."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def frames(self, hidden: FloatArray, turns: Sequence[Turn]) -> list[NDArray[np.int32] | None]:
        """See FrameSampler.frames."""
        seen = np.concatenate([turn.seen.mask for turn in turns])
        return _frames_of(self._graph.run({"global_hidden": hidden, "repetition_seen_mask": seen}))


def _frames_of(outputs: dict[str, NDArray[Any]]) -> list[NDArray[np.int32] | None]:
    going_on = outputs["should_continue"][:, 0]
    codes = outputs["frame_token_ids"]
    return [frame if go else None for go, frame in zip(going_on, codes, strict=True)]


class LocalSteps:
    """The local transformer position by position, with its keys and values."""

    def __init__(self, bundle: Bundle, graph: Graph) -> None:
        self._graph = graph
        config = bundle.config
        self._empty = {
            f"local_past_{part}_{layer}": np.zeros(
                (1, 0, config.local_heads, config.local_head_dim), dtype=np.float32
            )
            for layer in range(config.local_layers)
            for part in ("key", "value")
        }
        self.ids = bundle.ids
        self.n_vq = config.n_vq

    def start(self, hidden: FloatArray) -> "LocalFrame":
        """Begin a frame from a hidden state [1, hidden size]."""
        return LocalFrame(self._graph, dict(self._empty), hidden)


class LocalFrame:
    """One frame in the making; each step feeds one position and returns what may follow it."""

    def __init__(self, graph: Graph, past: dict[str, NDArray[Any]], hidden: FloatArray) -> None:
        self._graph = graph
        self._past = past
        self._hidden = hidden
        self._position = 0

    def text_logits(self) -> FloatArray:
        """Feed the hidden state; return the logits [vocabulary] of continuing or stopping."""
        logits: FloatArray = self._step(_HIDDEN)["text_logits"][0]
        return logits

    def first_code_logits(self, slot: int) -> FloatArray:
        """Feed the assistant slot; return the logits [codes] of the first codebook."""
        logits: FloatArray = self._step(_TEXT, text_token_id=slot)["audio_logits"][0, 0]
        return logits

    def next_code_logits(self, codebook: int, code: int) -> FloatArray:
        """Feed the code of a codebook; return the logits [codes] of the one after it."""
        outputs = self._step(_CODE, audio_token_id=code, channel_index=codebook)
        logits: FloatArray = outputs["audio_logits"][0, codebook + 1]
        return logits

    def _step(self, step_type: int, **scalars: int) -> dict[str, NDArray[Any]]:
        values = dict.fromkeys(LOCAL_STEP_SCALARS, 0) | scalars
        values |= {"step_type": step_type, "past_valid_lengths": self._position}
        inputs = {name: np.array([value], dtype=np.int32) for name, value in values.items()}
        outputs = self._graph.run({"global_hidden": self._hidden, **inputs, **self._past})
        self._past = {name: outputs[name.replace("past", "present")] for name in self._past}
        self._position += 1
        return outputs


class _HostSampler(ABC):
    """Frames whose every code is chosen here; children say how."""

    def __init__(self, bundle: Bundle, steps: LocalSteps) -> None:
        self._steps = steps
        self._sampling = bundle.sampling

    def frames(self, hidden: FloatArray, turns: Sequence[Turn]) -> list[NDArray[np.int32] | None]:
        """See FrameSampler.frames."""
        return [
            self._frame(hidden[place : place + 1], turn.seen, turn.stream)
            for place, turn in enumerate(turns)
        ]

    def _frame(
        self, hidden: FloatArray, seen: SeenCodes, stream: RandomStream
    ) -> NDArray[np.int32] | None:
        ids = self._steps.ids
        frame = self._steps.start(hidden)
        candidates = frame.text_logits()[[ids.audio_assistant_slot, ids.audio_end]]
        if self._choose_text(candidates, stream) != 0:
            return None
        codes = np.empty(self._steps.n_vq, dtype=np.int32)
        codes[0] = self._choose_code(
            frame.first_code_logits(ids.audio_assistant_slot), seen.of(0), stream
        )
        for codebook in range(1, self._steps.n_vq):
            logits = frame.next_code_logits(codebook - 1, int(codes[codebook - 1]))
            codes[codebook] = self._choose_code(logits, seen.of(codebook), stream)
        return codes

    @abstractmethod
    def _choose_text(self, candidates: FloatArray, stream: RandomStream) -> int:
        """Return 0 to continue or 1 to stop, by logits [2]."""

    @abstractmethod
    def _choose_code(
        self, logits: FloatArray, seen: NDArray[np.bool_], stream: RandomStream
    ) -> int:
        """Return a code by logits [codes]; ``seen`` marks those generated before."""


class GreedySampler(_HostSampler):
    """Frames of the most likely codes; equal chances to go on or stop mean going on."""

    def _choose_text(self, candidates: FloatArray, _stream: RandomStream) -> int:
        return int(np.argmax(candidates))

    def _choose_code(
        self, logits: FloatArray, seen: NDArray[np.bool_], _stream: RandomStream
    ) -> int:
        return most_likely(logits, seen, self._sampling.audio_repetition_penalty)


class FullSampler(_HostSampler):
    """Frames drawn by the host with the temperatures, top-k and top-p of the bundle's metadata."""

    def _choose_text(self, candidates: FloatArray, stream: RandomStream) -> int:
        return sampled(
            candidates,
            np.zeros(len(candidates), dtype=np.bool_),
            penalty=1.0,
            temperature=self._sampling.text_temperature,
            top_k=min(self._sampling.text_top_k, len(candidates)),
            top_p=self._sampling.text_top_p,
            draw=stream.draw(),
        )

    def _choose_code(
        self, logits: FloatArray, seen: NDArray[np.bool_], stream: RandomStream
    ) -> int:
        return sampled(
            logits,
            seen,
            penalty=self._sampling.audio_repetition_penalty,
            temperature=self._sampling.audio_temperature,
            top_k=self._sampling.audio_top_k,
            top_p=self._sampling.audio_top_p,
            draw=stream.draw(),
        )
