"""Sentences into pieces of a size that the model takes: cut at clauses, then words, characters.

Nothing is lost and nothing said twice. Every piece ends in a mark that ends sentences in its
script.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from .piece import MOST_PAUSE_SECONDS, Piece
from .sentences import CLOSERS, ENDS, is_ideograph

CountTokens = Callable[[str], int]

# A comma without a space behind it may be part of a number.
_CLAUSE: Final = re.compile(
    r"[^,;:—–，、；：،؛]*(?:[,;:—–](?!\s)[^,;:—–，、；：،؛]*)*[,;:—–，、；：،؛]?\s*"
)
_WORD: Final = re.compile(r"\s*\S+\s*")
_DANGLING: Final = ",;:-—–，、；：،؛ "
_WORDS: Final = re.compile(r"[^\W_]+(?:['’.,:-][^\W_]+)*")

# The model runs away on less: published reports, and the publisher pads texts under five words.
_FRAGMENT_WORDS: Final = 2


def is_speakable(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(character.isalnum() for character in text)


def is_fragment(text: str) -> bool:
    """Return whether a text has at most two words; two ideographs count as one."""
    ideographs = sum(map(is_ideograph, text))
    others = "".join(" " if is_ideograph(c) else c for c in text) if ideographs else text
    return len(_WORDS.findall(others)) + (ideographs + 1) // 2 <= _FRAGMENT_WORDS


def closed(text: str) -> str:
    """Return a text with a mark at its end that ends sentences in its script."""
    text = text.strip()
    if text.rstrip("".join(CLOSERS))[-1:] in ENDS and text:
        return text
    return text.rstrip(_DANGLING) + _full_stop(text)


def _full_stop(text: str) -> str:
    letter = next((c for c in reversed(text) if c.isalnum()), "")
    if is_ideograph(letter):
        return "。"
    if "\u0900" <= letter <= "\u097f":
        return "।"
    return "."


class Fitter:
    """Cuts a text into parts of at most ``budget`` tokens as ``count_tokens`` counts them.

    Only a single character and its full stop may have more.
    """

    def __init__(self, count_tokens: CountTokens, budget: int) -> None:
        self._count_tokens = count_tokens
        self._budget = budget

    def fits(self, text: str) -> bool:
        """Return whether a text and the mark that would end it are within the budget."""
        return self._count_tokens(closed(text)) <= self._budget

    def parts(self, text: str) -> list[str]:
        """Return a text cut as coarsely as fits, its parts packed as tightly as fits."""
        parts = self._pack(text, (_clauses, _WORD.findall, list))
        if len(parts) > 1 and is_fragment(parts[-1]):
            parts[-2:] = self._balanced(parts[-2] + parts[-1])
        return [part for part in map(str.strip, parts) if is_speakable(part)]

    def _pack(self, text: str, cuts: tuple[Callable[[str], Sequence[str]], ...]) -> list[str]:
        if not cuts or self.fits(text):
            return [text]
        units = cuts[0](text)
        parts: list[str] = []
        start = 0
        while start < len(units):
            end = start + self._most(units, start)
            part = "".join(units[start:end])
            parts += [part] if end > start + 1 else self._pack(part, cuts[1:])
            start = end
        return parts

    def _most(self, units: Sequence[str], start: int) -> int:
        """Return how many units fit together, at least 1: by doubling, then halving the step."""
        fitting, step = 1, 1
        while start + fitting < len(units) and self.fits(
            "".join(units[start : start + fitting + step])
        ):
            fitting += step
            step *= 2
        while step > 1:
            step //= 2
            if self.fits("".join(units[start : start + fitting + step])):
                fitting += step
        return min(fitting, len(units) - start)

    def _balanced(self, text: str) -> list[str]:
        """Return a text in two parts of about as many words, or characters where it has none."""
        words = _WORD.findall(text)
        units = words if len(words) > 2 else list(text)  # noqa: PLR2004
        middle = len(units) // 2
        first, second = "".join(units[:middle]), "".join(units[middle:])
        if self.fits(first) and self.fits(second):
            return [first, second]
        return self._pack(text, (_WORD.findall, list))


class Joiner:
    """Turns sentences into pieces, none of them a fragment that has a neighbour to join.

    A piece is held until it is certain that no fragment follows it. A break that was asked for
    parts even fragments.
    """

    def __init__(self, count_tokens: CountTokens, budget: int) -> None:
        self._fitter = Fitter(count_tokens, budget)
        self._held = ""
        self._paused = 0.0

    def add(self, text: str, *, whole: bool = True) -> list[Piece]:
        """Take a sentence, or a part of one; return the pieces that became certain."""
        pieces: list[Piece] = []
        if not is_speakable(text):
            return pieces
        self._paused = 0.0
        for part in self._fitter.parts(closed(text) if whole else text):
            joined = _together(self._held, part)
            if not self._held:
                self._held = part
            elif (is_fragment(self._held) or is_fragment(part)) and self._fitter.fits(joined):
                self._held = joined
            else:
                pieces += self.finish()
                self._held = part
        return pieces

    def no_fragment_follows(self) -> list[Piece]:
        """Return the piece that was held, unless it is a fragment itself."""
        return [] if is_fragment(self._held) else self.finish()

    def pause(self, seconds: float) -> list[Piece]:
        """Take silence; return the piece before it, or silence alone where there is none."""
        seconds = min(seconds, MOST_PAUSE_SECONDS - self._paused)
        if seconds <= 0:
            return []
        self._paused += seconds
        text, self._held = self._held, ""
        return [Piece(closed(text) if text else "", seconds)]

    def finish(self) -> list[Piece]:
        """Return the piece that was held."""
        text, self._held = self._held, ""
        return [Piece(closed(text))] if text else []


def _together(first: str, second: str) -> str:
    between = "" if is_ideograph(second[:1] or " ") and not first[-1:].isascii() else " "
    return first + between + second


def _clauses(text: str) -> list[str]:
    return [clause for clause in _CLAUSE.findall(text) if clause]
