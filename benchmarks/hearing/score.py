"""Word errors between what was to be said and what was heard."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
MOST_ERRORS: Final = 2  # of a sentence, in words of it: hearing a hundred words counts no more
# what the judge writes instead of the words said
WRITTEN: Final = {
    "%": " percent ",
    "°": " degrees ",
    "$": " dollars ",
    "&": " and ",
    "mr.": "mister",
    "dr.": "doctor",
    "okay": "ok",
    "o'clock": "oclock",
    "o' clock": "oclock",
    " a.m.": " a m",
    " p.m.": " p m",
}


@dataclass(frozen=True)
class Score:
    """Words said and word errors of them."""

    words: int = 0
    errors: int = 0

    def __add__(self, other: "Score") -> "Score":
        return Score(self.words + other.words, self.errors + other.errors)

    @property
    def rate(self) -> float:
        """Word error rate in percent."""
        return 100 * self.errors / max(1, self.words)


def in_words(number: int) -> str:
    """Return a whole number in English words."""
    if number < 20:
        return ONES[number]
    if number < 100:
        ten, one = divmod(number, 10)
        return TENS[ten - 2] + (f" {ONES[one]}" if one else "")
    unit, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    count, rest = divmod(number, unit)
    return f"{in_words(count)} {name}" + (f" {in_words(rest)}" if rest else "")


def normal_words(text: str) -> list[str]:
    """Return the words of a text: lower case, numbers in words, without marks."""
    text = text.lower().replace("’", "'")
    text = re.sub(r"\$(\d[\d,]*)", r"\1 dollars", text)
    for written, said in WRITTEN.items():
        text = text.replace(written, said)
    text = re.sub(r"(\d),(\d{3})", r"\1\2", text)
    text = re.sub(r"(\d+):00", r"\1 oclock", text)
    text = re.sub(r"\d{7,}", lambda found: " ".join(found[0]), text)
    text = re.sub(r"(\d+)(st|nd|rd|th)\b", r"\1", text)
    text = re.sub(r"\d+", lambda found: f" {in_words(int(found[0]))} ", text)
    return re.sub(r"[^a-z' ]", " ", text.replace("'", "")).split()


def word_errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """Return the least number of words to insert, delete or change."""
    row = list(range(len(heard) + 1))
    for place, word in enumerate(said, 1):
        corner, row[0] = row[0], place
        for other in range(1, len(heard) + 1):
            change = corner + (word != heard[other - 1])
            corner = row[other]
            row[other] = min(row[other] + 1, row[other - 1] + 1, change)
    return row[-1]


def score(said: str, heard: str) -> Score:
    """Score one sentence."""
    words, wrong = normal_words(said), normal_words(heard)
    errors = word_errors(words, wrong)
    return Score(len(words), min(errors, MOST_ERRORS * len(words)))


def total(pairs: Iterable[tuple[str, str]]) -> Score:
    """Score sentences, each said and heard."""
    return sum((score(said, heard) for said, heard in pairs), Score())
