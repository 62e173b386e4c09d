"""Text into pieces that the model takes at once: sentences, then clauses, words, characters.

Nothing is lost and nothing said twice: the pieces, put together, are the text but for white space.
A text that arrives in parts gives the same pieces wherever it is cut.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from sentence_stream import SentenceBoundaryDetector

CountTokens = Callable[[str], int]

_LINE_END: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_BLANKS: Final = re.compile(r"\s+")
_CLAUSE: Final = re.compile(r".+?(?:[,;:](?=\s)|[，、；：]|\s[—–-](?=\s)|$)", re.DOTALL)
_WORD: Final = re.compile(r"\s*\S+|\s+$")
_WORDS_AND_SPACE: Final = re.compile(r".*\s", re.DOTALL)

# Coarse to fine: how a text that is too long is cut into units, none of which loses a character.
_CUTS: Final[tuple[Callable[[str], list[str]], ...]] = (_CLAUSE.findall, _WORD.findall, list)

# The sentence detector removes asterisks, which is the business of cleaning, not of splitting. Each
# is shown to it as this noncharacter, which Unicode reserves for no text.
_ASTERISK: Final = "\ufdd0"

# The detector searches all the text it holds for every sentence it finds, so it gets little.
_SLICE: Final = 500


def is_speakable(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(character.isalnum() for character in text)


def split_text(text: str, count_tokens: CountTokens, budget: int) -> list[str]:
    """Return the pieces of a whole text; see PieceStream."""
    stream = PieceStream(count_tokens, budget)
    return [*stream.add(text), *stream.finish()]


class PieceStream:
    """Pieces of a text that is still arriving, each as soon as it is complete.

    Pieces are stripped and never empty. A sentence ends where sentence-stream says and at every
    line end; one without a letter ("1.", "...") goes with the next, because alone it makes the
    model ramble.

    Args:
        count_tokens: how many tokens a piece becomes.
        budget: how many tokens a piece may have; only a single character may have more.
    """

    def __init__(self, count_tokens: CountTokens, budget: int) -> None:
        self._count_tokens = count_tokens
        self._budget = budget
        self._detector = SentenceBoundaryDetector()
        self._pending = ""
        self._fragment = ""

    def add(self, text: str) -> list[str]:
        """Take more text; return the pieces that it completes."""
        return [piece for line_part in _line_parts(text) for piece in self._add_part(line_part)]

    def finish(self) -> list[str]:
        """End the text; return the pieces that were waiting for more of it."""
        pieces = self._end_line()
        if self._fragment:
            pieces.append(self._fragment)
            self._fragment = ""
        return pieces

    def _add_part(self, part: str | None) -> list[str]:
        if part is None:
            return self._end_line()
        pieces: list[str] = []
        for start in range(0, len(part), _SLICE):
            pieces += self._add_slice(part[start : start + _SLICE])
        return pieces

    def _add_slice(self, text: str) -> list[str]:
        text = _BLANKS.sub(" ", text.replace(_ASTERISK, ""))
        if not self._pending or self._pending[-1] == " ":
            text = text.removeprefix(" ")
        self._pending += text
        pieces: list[str] = []
        for sentence in self._detector.add_chunk(text.replace("*", _ASTERISK)):
            self._pending = self._pending.lstrip()[len(sentence) :]
            pieces += self._fitting(sentence.replace(_ASTERISK, "*"))
        return pieces + self._release()

    def _end_line(self) -> list[str]:
        line, self._pending = self._pending, ""
        self._detector = SentenceBoundaryDetector()
        return self._fitting(line)

    def _release(self) -> list[str]:
        """Return the pieces of an unfinished sentence that more text cannot change.

        Only whole words are looked at: another letter can make a token of two.
        """
        words = _WORDS_AND_SPACE.match(self._pending)
        if words is None or self._count_tokens(words[0].strip()) <= self._budget:
            return []
        fixed = self._fit(words[0], _CUTS)[:-1]
        self._pending = self._pending[sum(map(len, fixed)) :]
        self._detector = SentenceBoundaryDetector()
        # what was no sentence with its beginning is none without it
        for _ in self._detector.add_chunk(self._pending.replace("*", _ASTERISK)):
            pass
        return self._joined(fixed)

    def _fitting(self, sentence: str) -> list[str]:
        return self._joined(self._fit(sentence, _CUTS))

    def _fit(self, text: str, cuts: tuple[Callable[[str], list[str]], ...]) -> list[str]:
        """Return a text cut as coarsely as fits, its units packed as tightly as fits."""
        if not cuts or self._count_tokens(text.strip()) <= self._budget:
            return [text]
        packed = [""]
        for unit in cuts[0](text):
            if self._count_tokens((packed[-1] + unit).strip()) <= self._budget:
                packed[-1] += unit
            else:
                packed.extend(self._fit(unit, cuts[1:]))
        return packed

    def _joined(self, pieces: list[str]) -> list[str]:
        """Return pieces, a fragment joined to the one after it and the last fragment held back."""
        joined: list[str] = []
        for piece in filter(None, map(str.strip, pieces)):
            candidate = f"{self._fragment} {piece}" if self._fragment else piece
            if self._fragment and self._count_tokens(candidate) > self._budget:
                joined.append(self._fragment)
                candidate = piece
            self._fragment = ""
            if any(map(str.isalpha, candidate)):
                joined.append(candidate)
            else:
                self._fragment = candidate
        return joined


def _line_parts(text: str) -> Iterator[str | None]:
    """Yield the parts of a text between line ends, and None for each line end."""
    start = 0
    for line_end in _LINE_END.finditer(text):
        yield text[start : line_end.start()]
        yield None
        start = line_end.end()
    yield text[start:]
