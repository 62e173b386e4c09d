"""The words of the training sentences: a spelling list, in bands of how common they are.

The spellings are Debian's wamerican (from SCOWL); wordfreq only tells which of them are common.
The words by which the bundle is judged are left out, with their inflections.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wordfreq import top_n_list

SPELLINGS: Final = Path("/usr/share/dict/american-english")
JUDGED_WORDS: Final = Path(__file__).parents[1] / "benchmarks" / "hearing" / "words.txt"
INFLECTIONS: Final = ("s", "es", "d", "ed", "ing", "ly", "er", "ers", "'s", "ness")
BANDS: Final = (200, 3000, 20_000)  # how many of the commonest words


@dataclass(frozen=True)
class Words:
    """Lower-case words: bands of the commonest, all spellings, and names."""

    bands: tuple[tuple[str, ...], ...]
    all: tuple[str, ...]
    names: tuple[str, ...]


def read_words() -> Words:
    """Read the spelling list, without the words the bundle is judged by.

    Raises:
        FileNotFoundError: wamerican is not installed.
    """
    spellings = SPELLINGS.read_text(encoding="utf-8").split()
    judged = forbidden(JUDGED_WORDS.read_text(encoding="utf-8").split())
    plain = [word for word in spellings if re.fullmatch(r"[a-z]+('[a-z]+)?", word)]
    allowed = [word for word in plain if (len(word) > 1 or word in "ai") and word not in judged]
    known = set(allowed)
    common = [word for word in top_n_list("en", BANDS[-1]) if word in known]
    names = [word.lower() for word in spellings if re.fullmatch(r"[A-Z][a-z]{2,}", word)]
    return Words(
        bands=tuple(tuple(common[:size]) for size in BANDS),
        all=tuple(allowed),
        names=tuple(name for name in names if name not in judged),
    )


def forbidden(words: list[str]) -> set[str]:
    """Return words with everything an inflection makes of them or made them from."""
    found = set(words)
    for word in words:
        found.update(word + ending for ending in INFLECTIONS)
        found.update(word.removesuffix(ending) for ending in INFLECTIONS)
        if word.endswith("e"):
            found.update(word[:-1] + ending for ending in ("ing", "ed", "er", "ers"))
        if word.endswith("y"):
            found.update(word[:-1] + ending for ending in ("ies", "ied"))
        if word.endswith("ies"):
            found.add(word[:-3] + "y")
    return {word for word in found if len(word) > 2}
