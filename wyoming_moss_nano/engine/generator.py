"""From a prompt to frames: the global transformer with its keys and values, and when to stop."""

import logging
import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..errors import SpeechError
from ..model.bundle import Bundle
from ..model.metadata import BundleRules
from ..model.sessions import Sessions
from .local import FrameSampler
from .prompt import Codes, PromptLayout, Rows
from .sampling import FloatArray, SeenCodes

_LOGGER = logging.getLogger(__name__)

# The publisher's limit on the frames of one piece of text: 30 s.
DEFAULT_MAX_FRAMES: Final = 375


class GlobalTransformer:
    """The published prefill and decode_step graphs with the keys and values of one piece.

    ``hidden`` is the state [1, hidden size] from which the next frame is made.
    """

    def __init__(self, bundle: Bundle, sessions: Sessions) -> None:
        self._prefill = sessions.graph("prefill")
        self._decode_step = sessions.graph("decode_step")
        self._names = [
            (f"past_{part}_{layer}", f"present_{part}_{layer}")
            for layer in range(bundle.config.global_layers)
            for part in ("key", "value")
        ]
        self._past: dict[str, NDArray[Any]] = {}
        self._length = 0
        self.hidden: FloatArray = np.zeros((1, bundle.config.hidden_size), dtype=np.float32)

    def prefill(self, rows: Rows) -> None:
        """Read a whole prompt [rows, codebooks + 1]; forgets what was read before."""
        mask = np.ones((1, len(rows)), dtype=np.int32)
        self._keep(self._prefill.run({"input_ids": rows[np.newaxis], "attention_mask": mask}))
        self._length = len(rows)

    def advance(self, row: Rows) -> None:
        """Read one more row [1, codebooks + 1]."""
        length = np.array([self._length], dtype=np.int32)
        self._keep(
            self._decode_step.run(
                {"input_ids": row[np.newaxis], "past_valid_lengths": length, **self._past}
            )
        )
        self._length += 1

    def _keep(self, outputs: dict[str, NDArray[Any]]) -> None:
        self.hidden = outputs["global_hidden"][:, -1]
        if not np.isfinite(self.hidden).all():
            raise SpeechError("the model gave values that are no numbers: its files are damaged")
        self._past = {past: outputs[present] for past, present in self._names}


class Ending(Enum):
    """Why a piece ended."""

    STOPPED = "the model stopped"
    CAPPED = "the cap for a text of this length"
    MAX_FRAMES = "the limit on frames"


@dataclass(frozen=True)
class FrameLimit:
    """How many frames a piece may become, and what reaching that means."""

    frames: int
    ending: Ending

    @classmethod
    def of(cls, rules: BundleRules, tokens: int, max_frames: int) -> "FrameLimit":
        """Return the lower of the bundle's cap for a text of ``tokens`` and ``max_frames``."""
        cap = math.ceil(rules.cap_base + rules.cap_per_token * tokens)
        if cap < max_frames:
            return cls(cap, Ending.CAPPED)
        return cls(max_frames, Ending.MAX_FRAMES)


class PieceGenerator:
    """The frames of one piece of text, one per ``next_frame``."""

    def __init__(
        self,
        bundle: Bundle,
        sessions: Sessions,
        sampler: FrameSampler,
        reference: Codes,
        text_ids: list[int],
        max_frames: int,
    ) -> None:
        self._layout = PromptLayout.of(bundle)
        self._transformer = GlobalTransformer(bundle, sessions)
        self._sampler = sampler
        self._seen = SeenCodes(bundle.config)
        self._prompt = self._layout.prompt(reference, text_ids)
        self._limit = FrameLimit.of(bundle.rules, len(text_ids), max_frames)
        self._last: Codes | None = None
        self.frames = 0
        self.ending: Ending | None = None

    def next_frame(self) -> Codes | None:
        """Return the codes [n_vq] of the next frame, or None: then ``ending`` says why.

        The first call reads the prompt; each later one first reads the frame made before, so that
        no state is computed that nothing needs.
        """
        if self.ending is not None:
            return None
        if self.frames == self._limit.frames:
            self._end(self._limit.ending)
            return None
        if self._last is None:
            self._transformer.prefill(self._prompt)
        else:
            self._transformer.advance(self._layout.frame_row(self._last))
        frame = self._sampler.frame(self._transformer.hidden, self._seen)
        if frame is None:
            self._end(Ending.STOPPED)
            return None
        self._seen.add(frame)
        self._last = frame
        self.frames += 1
        return frame

    def _end(self, ending: Ending) -> None:
        self.ending = ending
        if ending is not Ending.STOPPED:
            _LOGGER.warning(
                "A piece of text ran into %s after %d frames and is cut there",
                ending.value,
                self.frames,
            )
