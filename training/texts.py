"""Training sentences: what a home says, and words of every kind in any order.

Sentences are lower case, of letters, spaces and ``',.?`` alone, and at most LONGEST characters.
None is one of the sentences the bundle is judged by.
"""

import random
import re
from pathlib import Path
from typing import Final

from .home import home_sentence, short_answer
from .numerals import in_words
from .words import Words

LONGEST: Final = 200
JUDGED_SENTENCES: Final = Path(__file__).parents[1] / "benchmarks" / "hearing" / "sentences.txt"
CHARACTERS: Final = " abcdefghijklmnopqrstuvwxyz',.?"
# what share of the sentences each kind has
KINDS: Final = (
    ("home", 26),
    ("words", 43),
    ("common", 10),
    ("single", 6),
    ("answer", 4),
    ("numbers", 5),
    ("long", 6),
)
JOINTS: Final = (", ", ", ", ", and ", ", but ", " and ", " because ", ", so ", " when ")


def plain(text: str) -> str:
    """Return a text as the tokenizer sees it: lower case, without what it does not know."""
    return re.sub(r"[^a-z',.? ]", "", text.lower())


class Sentences:
    """An endless supply of sentences; the same seed gives the same ones."""

    def __init__(self, words: Words, seed: int) -> None:
        self._words = words
        self._chance = random.Random(seed)
        lines = JUDGED_SENTENCES.read_text(encoding="utf-8").splitlines()
        self._judged = {plain(line).rstrip(".?") for line in lines}

    def __next__(self) -> str:
        """Return a sentence with its closing mark, at times without one."""
        while True:
            sentence = self._close(self._open())
            if len(sentence) <= LONGEST and sentence.rstrip(".?") not in self._judged:
                return sentence

    def __iter__(self) -> "Sentences":
        return self

    def _open(self) -> str:
        kinds, shares = zip(*KINDS, strict=True)
        kind = self._chance.choices(kinds, shares)[0]
        if kind == "home":
            return home_sentence(self._chance)
        if kind == "answer":
            return short_answer(self._chance)
        if kind == "single":
            return self._word()
        if kind == "numbers":
            return self._numbers()
        if kind == "long":
            return self._long()
        return self._row(common=kind == "common")

    def _close(self, sentence: str) -> str:
        if sentence.endswith("?"):
            return sentence
        return sentence + self._chance.choices((".", "?", ""), (86, 6, 8))[0]

    def _word(self) -> str:
        kind = self._chance.random()
        for share, band in zip((0.2, 0.4, 0.65), self._words.bands, strict=True):
            if kind < share:
                return self._chance.choice(band)
        return self._chance.choice(self._words.names if kind > 0.96 else self._words.all)

    def _row(self, *, common: bool) -> str:
        """Words in any order, a comma among them at times."""
        count = min(self._chance.randint(2, 9), self._chance.randint(2, 9))
        if common:
            count += self._chance.randint(2, 8)
            band = self._words.bands[1]
            row = [self._chance.choice(self._words.bands[0]) for _ in range(count)]
            row = [self._chance.choice(band) if self._chance.random() < 0.5 else w for w in row]
        else:
            row = [self._word() for _ in range(count)]
        if count >= 4 and self._chance.random() < 0.25:
            row[self._chance.randint(0, count - 3)] += ","
        return " ".join(row)

    def _numbers(self) -> str:
        count = self._chance.randint(1, 4)
        limits = [self._chance.choice((9, 20, 100, 999, 9999, 99_999)) for _ in range(count)]
        return " ".join(in_words(self._chance.randint(0, limit)) for limit in limits)

    def _long(self) -> str:
        """Two to four sentences in one."""
        sentence = home_sentence(self._chance).rstrip("?")
        for _ in range(self._chance.randint(1, 3)):
            row = self._row(common=self._chance.random() < 0.6)
            more = home_sentence(self._chance) if self._chance.random() < 0.6 else row
            joined = sentence + self._chance.choice(JOINTS) + more.rstrip("?")
            if len(joined) >= LONGEST:
                break
            sentence = joined
        return sentence
