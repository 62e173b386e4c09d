"""From pieces of text to frames: what a transformer reads next, and when a piece ends."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Generic, Protocol, TypeVar

import numpy as np

from ..errors import SpeechError
from ..model.bundle import Bundle
from ..model.metadata import BundleRules
from .local import FrameSampler, FrameSamplers, Turn
from .prompt import Codes
from .sampling import FloatArray, RandomStream, SeenCodes

_LOGGER = logging.getLogger(__name__)

# The publisher's limit on the frames of one piece of text: 30 s.
DEFAULT_MAX_FRAMES: Final = 375

Reading = TypeVar("Reading")


class Transformer(Protocol[Reading]):
    """The global transformer; a reading is what it has read of one piece."""

    def open(self, reference: Codes, text_ids: list[int]) -> Reading:
        """Begin a piece, of which nothing has been read.

        Args:
            reference: codes int32 [frames, codebooks] of the voice.
            text_ids: ids of the text alone.

        Raises:
            SpeechError: it is longer than the model takes.
        """

    def read(self, steps: Sequence[tuple[Reading, Codes | None]]) -> FloatArray:
        """Read one row more of each piece: the frame it has just made, or at first its prompt.

        Returns:
            The state [pieces, hidden size] from which each piece's next frame is made.
        """

    def close(self, reading: Reading) -> None:
        """Forget a piece."""


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


@dataclass
class OpenPiece(Generic[Reading]):
    """One piece of text in the making."""

    reading: Reading
    sampler: FrameSampler
    turn: Turn
    limit: FrameLimit
    last: Codes | None = None
    frames: int = 0
    ending: Ending | None = None

    def end(self, ending: Ending) -> None:
        """Note why the piece ended."""
        self.ending = ending
        if ending is not Ending.STOPPED:
            _LOGGER.warning(
                "A piece of text ran into %s after %d frames and is cut there",
                ending.value,
                self.frames,
            )

    def take(self, frame: Codes) -> None:
        """Note the frame that was made."""
        self.turn.seen.add(frame)
        self.last = frame
        self.frames += 1


class Generator(Generic[Reading]):
    """Makes frames of any number of pieces, one of each per call."""

    def __init__(
        self, bundle: Bundle, transformer: Transformer[Reading], samplers: FrameSamplers
    ) -> None:
        self._bundle = bundle
        self._transformer = transformer
        self._samplers = samplers

    def open(
        self,
        reference: Codes,
        text_ids: list[int],
        *,
        sample_mode: str,
        stream: RandomStream,
        max_frames: int,
    ) -> OpenPiece[Reading]:
        """Begin a piece; ``stream`` is shared by all pieces of one request.

        Args:
            reference: codes int32 [frames, codebooks] of the voice.
            text_ids: ids of the text alone.
            sample_mode: one of SAMPLE_MODES.
            stream: where random numbers come from.
            max_frames: most frames, where the bundle's own cap is higher.

        Raises:
            SpeechError: it is longer than the model takes.
        """
        return OpenPiece(
            reading=self._transformer.open(reference, text_ids),
            sampler=self._samplers.sampler(sample_mode),
            turn=Turn(SeenCodes(self._bundle.config), stream),
            limit=FrameLimit.of(self._bundle.rules, len(text_ids), max_frames),
        )

    def close(self, piece: OpenPiece[Reading]) -> None:
        """Forget a piece, ended or not."""
        self._transformer.close(piece.reading)

    def next_frames(self, pieces: Sequence[OpenPiece[Any]]) -> list[Codes | None]:
        """Return the codes [n_vq] of each piece's next frame, or None: then ``ending`` says why.

        Each call first reads the frames made before it, so that no state is computed that nothing
        needs.

        Raises:
            SpeechError: the model gave values that are no numbers.
        """
        for piece in pieces:
            if piece.ending is None and piece.frames == piece.limit.frames:
                piece.end(piece.limit.ending)
        going = [piece for piece in pieces if piece.ending is None]
        if going:
            self._advance(going)
        return [piece.last if piece.ending is None else None for piece in pieces]

    def _advance(self, pieces: list[OpenPiece[Any]]) -> None:
        hidden = self._transformer.read([(piece.reading, piece.last) for piece in pieces])
        if not np.isfinite(hidden).all():
            raise SpeechError("the model gave values that are no numbers: its files are damaged")
        for sampler in dict.fromkeys(piece.sampler for piece in pieces):
            mine = [place for place, piece in enumerate(pieces) if piece.sampler is sampler]
            frames = sampler.frames(hidden[mine], [pieces[place].turn for place in mine])
            for place, frame in zip(mine, frames, strict=True):
                if frame is None:
                    pieces[place].end(Ending.STOPPED)
                else:
                    pieces[place].take(frame)
