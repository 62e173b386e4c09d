"""Text that is still arriving into pieces: markup, sentences, cleaning, speaking, splitting.

The pieces are a function of the text alone, wherever it was cut into parts.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from .clean import clean_sentence
from .markup import MarkupReader
from .piece import Break, Piece, Sentence
from .reading import Reading
from .sentences import SentenceCutter
from .split import CountTokens, Joiner

# More words than these, and an unfinished sentence is certainly no fragment.
_FRAGMENT_WORDS: Final = 2


class CleanStream:
    """Clean sentences and breaks of a text, each as soon as it is certain."""

    def __init__(self, reading: Reading) -> None:
        self._markup = MarkupReader(ssml=reading.ssml)
        self._cutter = SentenceCutter(reading.language)

    @property
    def words(self) -> int:
        """How many words of an unfinished sentence there are."""
        return self._cutter.words

    def add(self, text: str) -> Iterator[Sentence | Break | None]:
        """Take more text; None is yielded where the unfinished sentence has grown."""
        yield from self._read(self._markup.add(text))

    def finish(self) -> Iterator[Sentence | Break | None]:
        """End the text."""
        yield from self._read(self._markup.finish())
        yield from map(_clean, self._cutter.end_line())

    def idle(self) -> Iterator[Sentence]:
        """Note that no text has come for a while; see SentenceCutter.idle."""
        yield from map(_clean, self._cutter.idle())

    def _read(self, parts: Iterable[str | Break]) -> Iterator[Sentence | Break | None]:
        for part in parts:
            if isinstance(part, Break):
                yield from map(_clean, self._cutter.end_line())
                yield part
                continue
            for character in part:
                yield from map(_clean, self._cutter.feed(character))
                yield None


class PieceStream:
    """Pieces of a text that is still arriving, each as soon as it is certain.

    Args:
        reading: how the text is read.
        count_tokens: how many tokens a piece becomes.
        budget: how many tokens a piece may have; only a single character may have more.
    """

    def __init__(self, reading: Reading, count_tokens: CountTokens, budget: int) -> None:
        self._reading = reading
        self._sentences = CleanStream(reading)
        self._joiner = Joiner(count_tokens, budget)

    def add(self, text: str) -> list[Piece]:
        """Take more text; return the pieces that it completes."""
        return self._pieces(self._sentences.add(text))

    def finish(self) -> list[Piece]:
        """End the text; return the pieces that were waiting for more of it."""
        return self._pieces(self._sentences.finish()) + self._joiner.finish()

    def idle(self) -> list[Piece]:
        """Return what looks complete, because no text has come for a while.

        This makes pieces depend on time: without it they depend on the text alone.
        """
        pieces = self._pieces(self._sentences.idle())
        if self._sentences.words:
            return pieces + self._joiner.no_fragment_follows()
        return pieces + self._joiner.finish()

    def _pieces(self, parts: Iterable[Sentence | Break | None]) -> list[Piece]:
        pieces: list[Piece] = []
        for part in parts:
            if isinstance(part, Sentence):
                pieces += self._joiner.add(self._reading.speak(part.text), whole=part.whole)
            elif isinstance(part, Break):
                pieces += self._joiner.pause(part.seconds)
            elif self._sentences.words > _FRAGMENT_WORDS:
                pieces += self._joiner.no_fragment_follows()
        return pieces


def split_text(
    text: str, count_tokens: CountTokens, budget: int, reading: Reading | None = None
) -> list[Piece]:
    """Return the pieces of a whole text; see PieceStream."""
    stream = PieceStream(reading or Reading(), count_tokens, budget)
    return [*stream.add(text), *stream.finish()]


def clean_text(text: str, reading: Reading) -> list[str]:
    """Return the clean sentences of a whole text."""
    stream = CleanStream(reading)
    parts = [*stream.add(text), *stream.finish()]
    return [part.text for part in parts if isinstance(part, Sentence) and part.text]


def _clean(sentence: Sentence) -> Sentence:
    text = clean_sentence(sentence.text, at_line_start=sentence.at_line_start)
    return Sentence(text, sentence.at_line_start, sentence.whole)
