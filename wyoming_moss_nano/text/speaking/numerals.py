"""Numbers as words. The rules are CLDR's, by unicode-rbnf; sign and fraction are spelled here.

The library gives "minus one" for -1.5 and "three point one" for 3.10, so it only ever gets whole
numbers of no sign, and always the name of a ruleset.
"""

import re
from dataclasses import dataclass
from typing import Final

from unicode_rbnf import RbnfEngine

# What is longer is no quantity that anybody can follow: it is read digit by digit.
_MOST_DIGITS: Final = 15
_SPACES: Final = re.compile(r"[\s'’]")


@dataclass(frozen=True)
class Rulesets:
    """Names of CLDR rulesets: for numbers alone, by gender m, f, n before a noun, and others."""

    alone: str = "spellout-numbering"
    masculine: str = "spellout-cardinal"
    feminine: str = "spellout-cardinal"
    neuter: str = "spellout-cardinal"
    ordinal: str = "spellout-ordinal"
    year: str = "spellout-numbering-year"


class Numerals:
    """Spells numbers of one language.

    Args:
        thousands: the mark between thousands, the other of comma and full stop being decimal.
        point: what the decimal mark is called.
        digit_fractions: whether digits behind it are said one by one, not as a number.
    """

    def __init__(
        self,
        language: str,
        rulesets: Rulesets,
        thousands: str,
        point: str,
        *,
        digit_fractions: bool,
    ) -> None:
        self._engine = RbnfEngine.for_language(language)
        self._rulesets = rulesets
        self.thousands = thousands
        self._point = point
        self._digit_fractions = digit_fractions
        self._joint = "" if language == "zh" else " "

    def parse(self, text: str) -> tuple[str, str]:
        """Return the digits before and behind the decimal mark, whichever mark that is."""
        text = _SPACES.sub("", text)
        marks = [character for character in text if character in ".,"]
        if not marks:
            return text, ""
        whole, fraction = text.rsplit(marks[-1], 1)
        several = len(marks) > 1 and len(set(marks)) == 1
        grouped = (
            marks[-1] == self.thousands
            and len(fraction) == 3  # noqa: PLR2004
            and len(whole) <= 3  # noqa: PLR2004
            and whole.strip("0") != ""
        )
        if several or grouped:
            whole, fraction = whole + fraction, ""
        return re.sub(r"[.,]", "", whole), fraction

    def number(self, text: str, gender: str = "") -> str:
        """Return a number as it is written, with marks of either kind, as words."""
        whole, fraction = self.parse(text)
        if not fraction:
            return self.cardinal(whole, gender)
        return self._joint.join([self.cardinal(whole), self._point, self._fraction(fraction)])

    def cardinal(self, digits: str, gender: str = "") -> str:
        """Return a whole number as words; one that starts with zeros, or is endless, as digits."""
        if len(digits) > _MOST_DIGITS or (len(digits) > 1 and digits[0] == "0"):
            return self.digits(digits)
        rulesets = self._rulesets
        ruleset = {"m": rulesets.masculine, "f": rulesets.feminine, "n": rulesets.neuter}
        return self._spell(int(digits), ruleset.get(gender, rulesets.alone))

    def ordinal(self, digits: str, ruleset: str = "") -> str:
        """Return an ordinal number as words."""
        return self._spell(int(digits[:_MOST_DIGITS]), ruleset or self._rulesets.ordinal)

    def year(self, digits: str) -> str:
        """Return a year as words."""
        return self._spell(int(digits), self._rulesets.year)

    def digits(self, text: str) -> str:
        """Return the digits of a text one by one."""
        ruleset = self._rulesets.alone
        return self._joint.join(self._spell(int(c), ruleset) for c in text if c in "0123456789")

    def _fraction(self, digits: str) -> str:
        rest = digits.lstrip("0")
        if self._digit_fractions or len(digits) > 3 or not rest or digits.endswith("0"):  # noqa: PLR2004
            return self.digits(digits)
        zeros = digits[: len(digits) - len(rest)]
        return " ".join(filter(None, [self.digits(zeros), self.cardinal(rest)]))

    def _spell(self, number: int, ruleset: str) -> str:
        return self._engine.format_number(number, ruleset_names=[ruleset]).text
