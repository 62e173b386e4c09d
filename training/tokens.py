"""The token ids of the bundle and how a prompt is laid out (names are the contract's)."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from .codec import CODEBOOKS, CODES
from .texts import CHARACTERS

UNKNOWN, BOS, EOS, IM_START, IM_END = 0, 1, 2, 3, 4
AUDIO_START, AUDIO_END, USER_SLOT, ASSISTANT_SLOT, PAD = 5, 6, 7, 8, 9
FIRST_CHARACTER: Final = 10
VOCABULARY: Final = 48
AUDIO_PAD: Final = CODES
USER_PREFIX: Final = (IM_START,)
AFTER_REFERENCE: Final = (IM_END,)
ASSISTANT_PREFIX: Final = (IM_END, IM_START)
ID_OF_CHARACTER: Final = {c: FIRST_CHARACTER + i for i, c in enumerate(CHARACTERS)}


def character_ids(text: str) -> list[int]:
    """Return the token ids of a plain text, one for each character."""
    return [ID_OF_CHARACTER[character] for character in text]


def prompt_tokens(reference: int, text: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return the text column of a prompt with ``reference`` frames of a voice."""
    return np.array(
        [
            *USER_PREFIX,
            AUDIO_START,
            *[USER_SLOT] * reference,
            AUDIO_END,
            *AFTER_REFERENCE,
            *text,
            *ASSISTANT_PREFIX,
            AUDIO_START,
        ]
    )


def first_reference_row() -> int:
    return len(USER_PREFIX) + 1


def first_text_row(reference: int) -> int:
    return first_reference_row() + reference + 1 + len(AFTER_REFERENCE)


def prompt_rows(reference: npt.NDArray[np.integer], text: Sequence[int]) -> npt.NDArray[np.int32]:
    """Return the rows [n, 1 + CODEBOOKS] of a prompt."""
    tokens = prompt_tokens(len(reference), text)
    rows = np.full((len(tokens), 1 + CODEBOOKS), AUDIO_PAD, np.int32)
    rows[:, 0] = tokens
    start = first_reference_row()
    rows[start : start + len(reference), 1:] = reference
    return rows
