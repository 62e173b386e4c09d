"""An utterance: one request on its way from pieces of text to frames.

It is resumable and owns all its state, so several can be open at once and be stepped in any order,
alone or together.
"""

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .generator import Ending, Generator, OpenPiece
from .options import SpeechOptions
from .prompt import Codes
from .sampling import RandomStream

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Frame:
    """One frame was made: codes int32 [codebooks], 80 ms of sound."""

    codes: Codes


@dataclass(frozen=True)
class PieceEnd:
    """A piece of the text is complete, for the reason given."""

    ending: Ending


@dataclass(frozen=True)
class Pause:
    """The text asks for silence here, in place of the one between any two pieces."""

    seconds: float


# What an utterance is made of: token ids of a piece, or silence; and what comes of it.
Part = list[int] | Pause
Event = Frame | PieceEnd | Pause


class Utterance:
    """The frames of one request, from pieces that may still be arriving; ``close`` it at the end.

    Args:
        reference: codes int32 [frames, codebooks] of the voice.
    """

    def __init__(self, generator: Generator[Any], reference: Codes, options: SpeechOptions) -> None:
        self._generator = generator
        self._reference = reference
        self._options = options
        # one random stream for the whole request, as the publisher's runtime has it
        self._stream = RandomStream(options.seed)
        self._pieces: deque[Part] = deque()
        self._piece: OpenPiece[Any] | None = None

    def add(self, piece: Part) -> None:
        """Add token ids of the next piece of the text, or silence; from any thread."""
        self._pieces.append(piece)

    @property
    def idle(self) -> bool:
        """Whether every piece so far is complete."""
        return self._piece is None and not self._pieces

    def step(self) -> Event | None:
        """Make one frame, or find that the piece is complete or silence due; None while idle.

        Raises:
            SpeechError: the model gave numbers that are none.
        """
        return step_together([self])[0]

    def due(self) -> OpenPiece[Any] | Pause | None:
        """Return the piece whose turn it is, silence that comes before it, or None while idle.

        Raises:
            SpeechError: the piece is longer than the model takes.
        """
        if self._piece is None and self._pieces:
            part = self._pieces.popleft()
            if isinstance(part, Pause):
                return part
            self._piece = self._generator.open(
                self._reference,
                part,
                sample_mode=self._options.sample_mode,
                stream=self._stream,
                max_frames=self._options.max_frames,
            )
        return self._piece

    def note(self, codes: Codes | None) -> Frame | PieceEnd:
        """Note the next frame of the current piece, or that there is none."""
        if codes is not None:
            return Frame(codes)
        ending = Ending.STOPPED
        if self._piece is not None:
            ending = self._piece.ending or ending
            if self._piece.frames == 0:
                _LOGGER.warning("The model made no sound for a piece of the text")
        self._close_piece()
        return PieceEnd(ending)

    def next_frames(self, pieces: Sequence[OpenPiece[Any]]) -> list[Codes | None]:
        """Make one frame of each of several pieces, this utterance's among them."""
        return self._generator.next_frames(pieces)

    def close(self) -> None:
        """Give up what is left to speak."""
        self._pieces.clear()
        self._close_piece()

    def _close_piece(self) -> None:
        if self._piece is not None:
            self._generator.close(self._piece)
            self._piece = None


def step_together(utterances: Sequence[Utterance]) -> list[Event | None]:
    """Make one frame of each of several utterances of one engine, as ``Utterance.step`` does.

    Raises:
        SpeechError: the model gave numbers that are none.
    """
    due = [utterance.due() for utterance in utterances]
    pieces = [part for part in due if isinstance(part, OpenPiece)]
    frames = iter(utterances[0].next_frames(pieces) if pieces else [])
    return [
        utterance.note(next(frames)) if isinstance(part, OpenPiece) else part
        for utterance, part in zip(utterances, due, strict=True)
    ]
