"""Text into pieces that the model takes at once: sentences, then clauses, words, characters.

Nothing is lost and nothing said twice: the pieces, put together, are the text but for white space.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from sentence_stream import stream_to_sentences

CountTokens = Callable[[str], int]

_CLAUSE: Final = re.compile(r".+?(?:[,;:](?=\s)|[，、；：]|\s[—–-](?=\s)|$)", re.DOTALL)
_WORD: Final = re.compile(r"\s*\S+|\s+$")

# Coarse to fine: how a text that is too long is cut into units, none of which loses a character.
_CUTS: Final[tuple[Callable[[str], list[str]], ...]] = (_CLAUSE.findall, _WORD.findall, list)


def is_speakable(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(character.isalnum() for character in text)


def split_text(text: str, count_tokens: CountTokens, budget: int) -> list[str]:
    """Return the pieces of a text in order, stripped, none empty.

    Args:
        text: any text.
        count_tokens: how many tokens a piece becomes.
        budget: how many tokens a piece may have; only a single character may have more.
    """
    pieces: list[str] = []
    for sentence in _sentences(text):
        fitting = _fit(sentence, count_tokens, budget, _CUTS)
        pieces.extend(piece for piece in map(str.strip, fitting) if piece)
    return _join_fragments(pieces, count_tokens, budget)


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of every line; a line end always ends one."""
    # the detector removes asterisks, which is the business of cleaning, not of splitting
    stand_in = _unused_character(text)
    for line in text.splitlines():
        for sentence in stream_to_sentences([line.replace("*", stand_in)]):
            yield sentence.replace(stand_in, "*")


def _unused_character(text: str) -> str:
    private_use = (chr(code) for code in range(0xE000, 0xF900))
    return next(character for character in private_use if character not in text)


def _fit(
    text: str,
    count_tokens: CountTokens,
    budget: int,
    cuts: tuple[Callable[[str], list[str]], ...],
) -> list[str]:
    """Return a text cut as coarsely as fits, its units packed as tightly as fits."""
    if not cuts or count_tokens(text.strip()) <= budget:
        return [text]
    packed = [""]
    for unit in cuts[0](text):
        if count_tokens((packed[-1] + unit).strip()) <= budget:
            packed[-1] += unit
        else:
            packed.extend(_fit(unit, count_tokens, budget, cuts[1:]))
    return packed


def _join_fragments(pieces: list[str], count_tokens: CountTokens, budget: int) -> list[str]:
    """Join pieces without a letter ("1.", "...") to the next: alone they make the model ramble."""
    joined: list[str] = []
    for piece in pieces:
        if joined and not any(map(str.isalpha, joined[-1])):
            candidate = f"{joined[-1]} {piece}"
            if count_tokens(candidate) <= budget:
                joined[-1] = candidate
                continue
        joined.append(piece)
    return joined
