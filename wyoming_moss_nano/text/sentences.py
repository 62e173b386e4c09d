"""Where sentences end: a text that may still be arriving, cut character by character.

Every decision depends on the characters so far, and so on the text alone.
"""

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import Final

from .abbreviations import ORDINAL_DOT, never_ends, seldom_ends
from .piece import Sentence

_LINE_ENDS: Final = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
# These end a sentence without a space behind them.
FULL_ENDS: Final = frozenset("。！？｡।॥؟۔")
ENDS: Final = frozenset(".!?…") | FULL_ENDS
CLOSERS: Final = frozenset("\"'”’»)]}*_`~」』）】》")
_OPENERS: Final = "\"'“‘„«([{*_`~「『（【《¿¡"
_CLAUSE_ENDS: Final = frozenset(",;:—–")
_FULL_CLAUSE_ENDS: Final = frozenset("，、；：،؛")
_CLAUSE: Final = re.compile(r"[,;:—–](?=\s)|[，、；：،؛]")

# A sentence without an end is cut here, so that a text takes time in proportion to its length.
_LONGEST: Final = 600  # characters
# The first piece of a text ends at the first clause behind so many characters: sound starts soon.
_SHORT_START: Final = 60
_SHORT_START_CJK: Final = 20


class _State(Enum):
    INSIDE = auto()
    ENDED = auto()  # behind a mark that may end a sentence
    BETWEEN = auto()  # behind such a mark and a space: what follows tells
    CLAUSE = auto()  # the same behind a clause that may be the first piece


class _Doubt(Enum):
    ENDS = auto()
    DEPENDS = auto()
    GOES_ON = auto()


class SentenceCutter:
    """Yields sentences as soon as the text so far makes them certain."""

    def __init__(self, language: str = "") -> None:
        self._language = language
        self._text = ""
        self._state = _State.INSIDE
        self._at_line_start = True
        self._first = True
        self._words = 0
        self._ideographs = 0
        self._in_word = False

    @property
    def words(self) -> int:
        """How many words the unfinished sentence has so far; two ideographs count as one."""
        return self._words + self._ideographs // 2

    def feed(self, character: str) -> Iterator[Sentence]:
        """Take one character of the text."""
        if character in _LINE_ENDS:
            yield from self.end_line()
            return
        blank = character.isspace()
        if self._state is _State.ENDED:
            yield from self._behind_mark(character, blank=blank)
        elif self._state in (_State.BETWEEN, _State.CLAUSE) and not blank:
            yield from self._behind_space(character)
        if blank and not self._text:
            return
        self._append(character, blank=blank)
        if len(self._text) >= _LONGEST:
            yield from self._cut_long()

    def end_line(self) -> Iterator[Sentence]:
        """End the sentence and the line, whatever it looks like."""
        yield from self._cut(whole=True)
        self._at_line_start = True

    def idle(self) -> Iterator[Sentence]:
        """End a sentence that certainly looks complete, because no more text has come for a while.

        What comes later may show that it was not; a text is cut the same way only without this.
        """
        complete = self._state is _State.BETWEEN or (
            self._state is _State.ENDED and self._doubt() is _Doubt.ENDS
        )
        if complete and self._doubt() is _Doubt.ENDS:
            yield from self._cut(whole=True)

    def _append(self, character: str, *, blank: bool) -> None:
        self._text += character
        if blank:
            self._in_word = False
        elif character.isalnum():
            if is_ideograph(character):
                self._ideographs += 1
            else:
                self._words += not self._in_word
                self._in_word = True
        if self._state is _State.INSIDE:
            if character in ENDS and not self._in_table:
                self._state = _State.ENDED
            elif self._first and self._starts_short(blank=blank):
                self._state = _State.CLAUSE

    def _starts_short(self, *, blank: bool) -> bool:
        if blank:
            return len(self._text) > _SHORT_START and self._text[-2] in _CLAUSE_ENDS
        return len(self._text) > _SHORT_START_CJK and self._text[-1] in _FULL_CLAUSE_ENDS

    @property
    def _in_table(self) -> bool:
        return self._at_line_start and self._text.lstrip().startswith("|")

    def _behind_mark(self, character: str, *, blank: bool) -> Iterator[Sentence]:
        if character in ENDS or character in CLOSERS:
            return
        if self._text.rstrip("".join(CLOSERS))[-1:] in FULL_ENDS:
            yield from self._cut(whole=True)
            return
        self._state = _State.INSIDE
        if not blank:
            return
        doubt = self._doubt()
        if doubt is _Doubt.ENDS:
            yield from self._cut(whole=True)
        elif doubt is _Doubt.DEPENDS:
            self._state = _State.BETWEEN

    def _behind_space(self, character: str) -> Iterator[Sentence]:
        clause = self._state is _State.CLAUSE
        self._state = _State.INSIDE
        if clause:
            if not character.isdigit():
                yield from self._cut(whole=False)
        elif not (character.islower() or character.isdigit()):
            yield from self._cut(whole=True)

    def _doubt(self) -> _Doubt:
        """Return whether the mark at the end of the text ends a sentence."""
        text = self._text.rstrip().rstrip("".join(CLOSERS))
        if text.endswith(("…", "..")):
            return _Doubt.DEPENDS
        if not text.endswith("."):
            return _Doubt.ENDS
        word = text[:-1].split()[-1].lstrip(_OPENERS) if text[:-1].split() else ""
        if word.isdecimal():
            return self._doubt_of_number(text, word)
        if never_ends(word, self._language) or _is_initial(word):
            return _Doubt.GOES_ON
        if seldom_ends(word, self._language) or _is_dotted(word):
            return _Doubt.DEPENDS
        return _Doubt.ENDS

    def _doubt_of_number(self, text: str, number: str) -> _Doubt:
        begins_item = self._at_line_start and text.strip(_OPENERS + " -+>#•.") == number
        if begins_item or (self._language in ORDINAL_DOT and len(number) <= 2):  # noqa: PLR2004
            return _Doubt.GOES_ON
        return _Doubt.DEPENDS

    def _cut(self, *, whole: bool) -> Iterator[Sentence]:
        text, self._text = self._text, ""
        at_line_start = self._at_line_start
        self._begin("")
        if text.strip():
            self._at_line_start = self._first = False
            yield Sentence(text, at_line_start, whole)

    def _cut_long(self) -> Iterator[Sentence]:
        """Cut a sentence that is too long behind a clause, or else a word."""
        text = self._text
        places = [m.end() for m in _CLAUSE.finditer(text, _LONGEST // 2)]
        place = places[-1] if places else text.rfind(" ", 1) + 1
        place = place if place > 0 else len(text)
        yield Sentence(text[:place], self._at_line_start, whole=False)
        self._at_line_start = self._first = False
        self._begin(text[place:].lstrip())

    def _begin(self, rest: str) -> None:
        self._text, self._state, self._in_word = "", _State.INSIDE, False
        self._words = self._ideographs = 0
        for character in rest:
            self._append(character, blank=character.isspace())


def is_ideograph(character: str) -> bool:
    """Return whether a character belongs to a script that is written without spaces."""
    return "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff"


def _is_initial(word: str) -> bool:
    """Return whether a word is a letter that stands for a name, as in J. S. Bach."""
    return len(word) == 1 and word.isupper() and word != "I"


def _is_dotted(word: str) -> bool:
    """Return whether a word is letters with dots between, such as p.m or U.S."""
    parts = word.split(".")
    return len(parts) > 1 and all(len(part) == 1 and part.isalpha() for part in parts)
