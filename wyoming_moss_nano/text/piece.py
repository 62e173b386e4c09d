"""What text becomes on its way to the model: sentences, breaks and pieces."""

from dataclasses import dataclass
from typing import Final

# A longer silence is a mistake or a prank; the sum of breaks in a row is cut to it, too.
MOST_PAUSE_SECONDS: Final = 10.0


@dataclass(frozen=True)
class Sentence:
    """A part of a text, as it was written or cleaned.

    ``at_line_start`` tells whether it begins a line; ``whole`` is false where only a part of a
    sentence was cut off, so that it gets no end of its own before its neighbours are known.
    """

    text: str
    at_line_start: bool = False
    whole: bool = True


@dataclass(frozen=True)
class Break:
    """Silence that a text asks for, in seconds from 0 to MOST_PAUSE_SECONDS."""

    seconds: float


@dataclass(frozen=True)
class Piece:
    """What the model takes at once, and the silence in seconds that the text asks for behind it.

    A ``pause_s`` of 0 means that the text asks for none; a ``text`` of "" is nothing but silence.
    """

    text: str
    pause_s: float = 0.0
