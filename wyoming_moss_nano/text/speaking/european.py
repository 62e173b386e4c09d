"""The rules that European languages share, each in its own words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .language import Noun
from .numerals import Numerals, Rulesets

# The Romance languages count in two genders and have an ordinal for each.
ROMANCE: Final = Rulesets(
    masculine="spellout-cardinal-masculine",
    feminine="spellout-cardinal-feminine",
    neuter="spellout-cardinal-masculine",
    ordinal="spellout-ordinal-masculine",
)

_LIST_NUMBER: Final = re.compile(r"^(\d{1,3})[.)] (?=\S)")
_CLOCK_WITH_H: Final = re.compile(r"(?<![\w:.,])([01]?\d|2[0-4]) ?h ?([0-5]\d)(?!\w)")
# 3.º and 3ª are ordinals; 3° only before what is no direction or place
_RAISED_ORDINAL: Final = re.compile(
    r"(?<![\w.,])(\d{1,3})(?:\.[ºª°]|ª"
    r"|[º°](?= (?!(?:di|de|da|a|al|e|y|o|en|em|in|con|com)\b)[a-zà-ú]))(?!\w)"
)


@dataclass(frozen=True)
class Words:
    """The words of one language for what stands in its dates, times and years.

    Args:
        month_names: from January to December.
        before_years: a regular expression of the words besides months that a year follows.
        abbreviations: what is said for them, in the order in which they are looked for.
        hour: what the hours of a clock are counted in.
        second: what its seconds are counted in.
        and_: the word before seconds.
        before_minutes: the word before minutes, where there is one.
        behind_years: a regular expression of what has to stand behind a year, such as ``(?!x)``.
        of: what stands between day, month and year.
        first: the first of a month, where it is called otherwise than by its number.
    """

    month_names: Sequence[str]
    before_years: str
    abbreviations: Mapping[str, str]
    hour: Noun
    second: Noun
    and_: str
    before_minutes: str = ""
    behind_years: str = ""
    of: str = " "
    first: str = ""


class European:
    """The rules in the words of one language; a language with more of its own extends them."""

    def __init__(self, numerals: Numerals, words: Words) -> None:
        self._numerals = numerals
        self._words = words
        months = "|".join(words.month_names)
        self._day = re.compile(rf"\d{{1,3}}[.)] (?:de )?(?:{months})")
        self._year = re.compile(
            rf"\b({words.before_years}|{months}) (1[1-9]\d\d|20\d\d)"
            rf"(?![\w]|[.,:]\d|\s?[%€°]){words.behind_years}"
        )
        self._abbreviations = [
            (re.compile(rf"(?<![\w.]){re.escape(short)}(?!\w)"), said)
            for short, said in words.abbreviations.items()
        ]

    def list_numbers(self, text: str) -> str:
        """Return a sentence with the number of an item of a list as a word."""
        if self._starts_with_day(text):
            return text
        return _LIST_NUMBER.sub(lambda f: f"{self._numerals.cardinal(f[1]).capitalize()}: ", text)

    def clock_with_h(self, text: str) -> str:
        """Return a sentence with 14h30 as 14:30."""
        return _CLOCK_WITH_H.sub(r"\1:\2", text)

    def raised_ordinals(self, text: str) -> str:
        """Return a sentence with 3.º and 3ª as words."""
        return _RAISED_ORDINAL.sub(self._raised_ordinal, text)

    def years(self, text: str) -> str:
        """Return a sentence with the years behind months and words for time as words."""
        return self._year.sub(lambda f: f"{f[1]} {self._numerals.year(f[2])}", text)

    def abbreviations(self, text: str) -> str:
        """Return a sentence with abbreviations in full."""
        for pattern, said in self._abbreviations:
            text = pattern.sub(said, text)
        return text

    def date(self, day: str, month: int, year: str, before: str) -> str:
        """Return a date."""
        said = [self._said_day(day, before), self._words.month_names[month - 1]]
        return self._words.of.join([*said, self._numerals.year(year)] if year else said)

    def time(self, hours: str, minutes: str, seconds: str) -> str:
        """Return a time of 24 hours."""
        said = [self._said_hours(hours, minutes)]
        if minutes != "00":
            said.append(self._said_minutes(minutes))
        if seconds.strip("0"):
            second = self._words.second
            number = self._numerals.cardinal(str(int(seconds)), second.gender)
            said.append(f"{self._words.and_} {number} {second.many}")
        return " ".join(said)

    def _starts_with_day(self, text: str) -> bool:
        return bool(self._day.match(text))

    def _raised_ordinal(self, found: re.Match[str]) -> str:
        gender = "feminine" if "ª" in found[0] else "masculine"
        return self._numerals.ordinal(found[1], f"spellout-ordinal-{gender}")

    def _said_day(self, day: str, _before: str) -> str:
        return (day == "1" and self._words.first) or self._numerals.cardinal(day)

    def _said_hours(self, hours: str, _minutes: str) -> str:
        hour = self._words.hour
        number = self._numerals.cardinal(hours, hour.gender)
        return f"{number} {hour.one if hours in {'0', '1'} else hour.many}"

    def _said_minutes(self, minutes: str) -> str:
        number = self._numerals.cardinal(str(int(minutes)))
        return " ".join(filter(None, [self._words.before_minutes, number]))
