"""From a hidden state to one frame: the local transformer in its three sampling modes.

Sampled by the graph (fixed), or step by step with the host choosing each code (greedy and full).
"""

from abc import ABC, abstractmethod
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


class FrameSampler(Protocol):
    """Makes frames of one request, in order."""

    def frame(self, hidden: FloatArray, seen: SeenCodes) -> NDArray[np.int32] | None:
        """Return the codes [n_vq] that follow a hidden state [1, hidden size], or None to stop."""


def frame_sampler(mode: str, bundle: Bundle, sessions: Sessions, seed: int) -> FrameSampler:
    """Return the sampler of one of SAMPLE_MODES, with a random stream of its own."""
    if mode == "fixed":
        return FixedSampler(bundle, sessions.graph("local_fixed_sampled_frame"), RandomStream(seed))
    steps = LocalSteps(bundle, sessions.graph("local_cached_step"))
    if mode == "greedy":
        return GreedySampler(bundle, steps)
    return FullSampler(bundle, steps, RandomStream(seed))


class FixedSampler:
    """Frames sampled inside the graph, from random numbers handed to it."""

    def __init__(self, bundle: Bundle, graph: Graph, stream: RandomStream) -> None:
        self._n_vq = bundle.config.n_vq
        self._graph = graph
        self._stream = stream

    def frame(self, hidden: FloatArray, seen: SeenCodes) -> NDArray[np.int32] | None:
        """Return the next frame; a frame that stops draws its random numbers, too."""
        outputs = self._graph.run(
            {
                "global_hidden": hidden,
                "repetition_seen_mask": seen.mask,
                "assistant_random_u": self._stream.draw_clamped(1),
                "audio_random_u": self._stream.draw_clamped(self._n_vq)[np.newaxis],
            }
        )
        if not outputs["should_continue"].item():
            return None
        codes: NDArray[np.int32] = outputs["frame_token_ids"][0]
        return codes


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

    def frame(self, hidden: FloatArray, seen: SeenCodes) -> NDArray[np.int32] | None:
        """Return the next frame."""
        ids = self._steps.ids
        frame = self._steps.start(hidden)
        candidates = frame.text_logits()[[ids.audio_assistant_slot, ids.audio_end]]
        if self._choose_text(candidates) != 0:
            return None
        codes = np.empty(self._steps.n_vq, dtype=np.int32)
        codes[0] = self._choose_code(frame.first_code_logits(ids.audio_assistant_slot), seen.of(0))
        for codebook in range(1, self._steps.n_vq):
            logits = frame.next_code_logits(codebook - 1, int(codes[codebook - 1]))
            codes[codebook] = self._choose_code(logits, seen.of(codebook))
        return codes

    @abstractmethod
    def _choose_text(self, candidates: FloatArray) -> int:
        """Return 0 to continue or 1 to stop, by logits [2]."""

    @abstractmethod
    def _choose_code(self, logits: FloatArray, seen: NDArray[np.bool_]) -> int:
        """Return a code by logits [codes]; ``seen`` marks those generated before."""


class GreedySampler(_HostSampler):
    """Frames of the most likely codes; equal chances to go on or stop mean going on."""

    def _choose_text(self, candidates: FloatArray) -> int:
        return int(np.argmax(candidates))

    def _choose_code(self, logits: FloatArray, seen: NDArray[np.bool_]) -> int:
        return most_likely(logits, seen, self._sampling.audio_repetition_penalty)


class FullSampler(_HostSampler):
    """Frames drawn by the host with the temperatures, top-k and top-p of the bundle's metadata."""

    def __init__(self, bundle: Bundle, steps: LocalSteps, stream: RandomStream) -> None:
        super().__init__(bundle, steps)
        self._stream = stream

    def _choose_text(self, candidates: FloatArray) -> int:
        return sampled(
            candidates,
            np.zeros(len(candidates), dtype=np.bool_),
            penalty=1.0,
            temperature=self._sampling.text_temperature,
            top_k=min(self._sampling.text_top_k, len(candidates)),
            top_p=self._sampling.text_top_p,
            draw=self._stream.draw(),
        )

    def _choose_code(self, logits: FloatArray, seen: NDArray[np.bool_]) -> int:
        return sampled(
            logits,
            seen,
            penalty=self._sampling.audio_repetition_penalty,
            temperature=self._sampling.audio_temperature,
            top_k=self._sampling.audio_top_k,
            top_p=self._sampling.audio_top_p,
            draw=self._stream.draw(),
        )
