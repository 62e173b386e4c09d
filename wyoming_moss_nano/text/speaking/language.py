"""What the rules need to know of a language: its words for figures, signs, units and dates."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from .numerals import Numerals


@dataclass(frozen=True)
class Noun:
    """A thing that is counted: one of it, several, and its gender m, f or n."""

    one: str
    many: str
    gender: str = "m"


@dataclass(frozen=True)
class Currency:
    """Money, and the hundredth of it; a currency without hundredths has none."""

    whole: Noun
    part: Noun | None = None


@dataclass(frozen=True)
class Signs:
    """Words for signs."""

    minus: str
    plus: str
    to: str
    per: str
    and_: str
    at: str
    dot: str
    point: str
    slash: str
    about: str
    less: str
    more: str
    at_most: str
    at_least: str
    plus_minus: str
    percent: Noun
    joint: str = " "  # between words


# A rule of one language alone: a sentence in, a sentence out.
Rule = Callable[[str], str]


@dataclass(frozen=True)
class Language:
    """A language.

    Args:
        few: whether a number, as digits before and behind its decimal mark, takes the singular.
        months: from 1 to 12, by their names and abbreviations in small letters.
        time_words: a regular expression of what may stand behind a time and is said by ``time``.
        date: day, month, year ("" for none) and the word before them, as words.
        time: hours, minutes, seconds ("" for none) as words.
        first, early, late, last: rules of this language alone: before all others, before dates,
            before what is left of numbers becomes words, and behind all others.
        month_first: whether 12/24/2024 is in December.
        spaced: whether a space may stand between thousands.
    """

    code: str
    numerals: Numerals
    signs: Signs
    units: Mapping[str, Noun]
    currencies: Mapping[str, Currency]
    few: Callable[[str, str], bool]
    months: Mapping[str, int]
    date: Callable[[str, int, str, str], str]
    time: Callable[[str, str, str], str]
    time_words: str = ""
    first: tuple[Rule, ...] = ()
    early: tuple[Rule, ...] = ()
    late: tuple[Rule, ...] = ()
    last: tuple[Rule, ...] = ()
    month_first: bool = False
    spaced: bool = False


def only_one(whole: str, fraction: str) -> bool:
    """Return whether a number is 1, the only one that takes the singular in most languages."""
    return whole == "1" and not fraction


def below_two(whole: str, _fraction: str) -> bool:
    """Return whether a number is less than 2, and so singular in French and Portuguese."""
    return whole.lstrip("0") in {"", "1"}


def nouns(table: str) -> dict[str, Noun]:
    """Return nouns by the signs that stand for them.

    A line is ``signs = one, many, gender``, with spaces between signs; without ``many`` it is as
    ``one``, without a gender masculine.
    """
    return {sign: _noun(words) for sign, words in _rows(table)}


def currencies(table: str) -> dict[str, Currency]:
    """Return currencies by the signs that stand for them.

    A line is ``signs = whole / part``, with spaces between signs and either side of the stroke as
    in ``nouns``; a currency without hundredths has no stroke.
    """
    found: dict[str, Currency] = {}
    for sign, words in _rows(table):
        whole, _, part = words.partition("/")
        found[sign] = Currency(_noun(whole), _noun(part) if part else None)
    return found


def months(*names: str) -> dict[str, int]:
    """Return the numbers of months by their names; each argument names one, with spaces between."""
    return {name: i for i, line in enumerate(names, start=1) for name in line.split()}


def month_names(months: Mapping[str, int]) -> list[str]:
    """Return what months are called: the first name of each, in the order of the year."""
    first: dict[int, str] = {}
    for name, month in months.items():
        first.setdefault(month, name)
    return [first[month] for month in sorted(first)]


def _rows(table: str) -> Iterator[tuple[str, str]]:
    for line in filter(str.strip, table.splitlines()):
        signs, _, words = line.partition("=")
        for sign in signs.split():
            yield sign, words


def _noun(words: str) -> Noun:
    one, *more = [word.strip() for word in words.split(",")]
    return Noun(one, more[0] if more and more[0] else one, more[1] if len(more) > 1 else "m")
