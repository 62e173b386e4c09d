"""The rules that all languages share: dates, times, money, units, ranges, numbers and signs."""

import re
from typing import Final

from .language import Language, Noun

_ISO_DATE: Final = r"(?P<y>[12]\d{3})-(?P<m>0[1-9]|1[0-2])-(?P<d>0[1-9]|[12]\d|3[01])"
_CLOCK: Final = r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?"
_ISO: Final = re.compile(
    rf"(?<![\w-])(?P<before>\w+ )??{_ISO_DATE}(?:[T ](?P<t>\d\d:\d\d(?::\d\d)?)(?:\.\d+)?"
    r"(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-])"
)
_TIME: Final = re.compile(r"(?<![\w:.,])(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?![\w:]|[.,]\d)")
_RANGE_MARK: Final = r"\s?[-–−‐]\s?"
_PHONE: Final = re.compile(
    r"(?<![\w+.])(?:\+\d{1,3}(?:[ ./-]?\(?\d{1,5}\)?){2,6}"
    r"|\(\d{2,5}\)[ -]?\d{2,5}(?:[ -]\d{2,5}){1,3}"
    r"|\d{3}[-. ]\d{3}[-. ]\d{4}|0\d{2,4}[ /-]\d{3,8}(?:[ -]\d{2,5})*)(?![\w]|[.,]\d)"
)
_SIGNED: Final = r"(?<![\w)\]%°.,:/])(?P<sign>[-−–+±~≈<>≤≥]\s?|)"
# Between a letter and a digit.
_SEAM: Final = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_DIGITS: Final = re.compile(r"\d+")
_DURATIONS: Final = {
    "days": "days?|d|T",
    "hours": "hours?|hrs?|h|Std|u",
    "minutes": "minutes?|mins?|m|Min",
    "seconds": "seconds?|secs?|sek|Sek|s",
}
_FRACTION_SIGNS: Final = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8"}


class Figures:
    """Applies the common rules in the words of a language."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._numerals = language.numerals
        self._signs = language.signs
        space = " " if language.spaced else ""
        # a long list of names first tries the longest
        self._nouns = _nouns(language)
        units = _any_of([*self._nouns, "%"])
        money = _any_of(list(language.currencies))
        number = (
            rf"\d{{1,3}}(?:[.,'’{space}]\d{{3}})+(?![\d])(?:[.,]\d+)?(?!\d)"
            r"|\d+(?:[.,]\d+)?(?![\d]|[.,]\d)"
        )
        self._number = re.compile(rf"{_SIGNED}(?P<number>{number})")
        self._quantity = re.compile(
            rf"{_SIGNED}(?P<number>{number})(?P<gap>\s?)(?P<unit>{units})"
            rf"(?:\s?/\s?(?P<per>{units}))?(?![^\W_]|/[^\W\d])"
        )
        self._range = re.compile(
            rf"(?<![\w.,:/+-])(?P<first>[-−]?(?:{number}))(?P<unit>\s?(?:{units}|{money}))?"
            rf"{_RANGE_MARK}(?P<second>[-−]?(?:{number}))(?=\s?(?:{units}|{money})(?!\w)|(?![\w:-]))"
        )
        self._money_first = re.compile(
            rf"(?P<sign>[-−]?)(?<!\w)(?P<money>{money})\s?(?P<sign2>[-−]?)(?P<number>{number})"
            rf"(?P<scale>\s?(?:k|K|M|bn|B|million|billion|thousand|trillion)\b)?"
        )
        self._money_last = re.compile(
            rf"{_SIGNED}(?P<number>{number})\s?(?P<money>{money})(?!\w)(?P<scale>(?!))?"
        )
        self._per = re.compile(rf"\s?/\s?(?P<per>{units})(?![^\W_])")
        self._time_range = re.compile(rf"(?<![\d:.,])({_CLOCK}){_RANGE_MARK}({_CLOCK})(?![\d:])")
        months = _any_of(list(language.months))
        self._day_month = re.compile(
            rf"(?<![\w.,/:-])(?P<before>\w+ )??(?P<d>[0-3]?\d)(?P<mark>\.|er|º|ª|°)?(?: de| di)? "
            rf"(?P<m>{months})\b\.?(?:(?: de| del|,)? (?P<y>[12]\d{{3}})\b)?(?!:)",
            re.IGNORECASE,
        )
        self._local_date = re.compile(
            r"(?<![\w.,/:-])(?P<before>\w+ )??"
            r"(?P<a>[0-3]?\d)(?P<mark>[./-])(?P<b>[0-3]?\d)(?P=mark)"
            r"(?P<y>(?:[12]\d)?\d\d)(?![\w/-]|[.,]\d)"
        )
        self._compound = _compound_duration()

    def dates(self, text: str) -> str:
        """Return a sentence with dates as words."""
        text = _ISO.sub(self._iso, text)
        text = self._local_date.sub(self._local, text)
        return self._day_month.sub(self._with_month, text)

    def times(self, text: str) -> str:
        """Return a sentence with times and ranges of times as words."""
        text = self._time_range.sub(rf"\1 {self._signs.to} \2", text)
        pattern = re.compile(_TIME.pattern + self._language.time_words)
        return pattern.sub(self._time, text)

    def durations(self, text: str) -> str:
        """Return a sentence with durations such as 1h 30m as words."""
        return self._compound.sub(self._duration, text)

    def phones(self, text: str) -> str:
        """Return a sentence with telephone numbers as digits, group by group."""
        return _PHONE.sub(self._phone, text)

    def ranges(self, text: str) -> str:
        """Return a sentence with ranges as words; a unit on both sides is said once."""
        return self._range.sub(self._spoken_range, text)

    def money(self, text: str) -> str:
        """Return a sentence with sums of money as words."""
        return self._money_last.sub(self._sum, self._money_first.sub(self._sum, text))

    def quantities(self, text: str) -> str:
        """Return a sentence with numbers that have a unit as words."""
        return self._quantity.sub(self._counted, text)

    def numbers(self, text: str) -> str:
        """Return a sentence with all other numbers as words."""
        return self._number.sub(
            lambda found: self._sign(found["sign"]) + self._numerals.number(found["number"]), text
        )

    def rest(self, text: str) -> str:
        """Return a sentence with the digits that no rule knew as words."""
        return _DIGITS.sub(lambda found: self._numerals.cardinal(found[0]), _SEAM.sub(" ", text))

    def fraction_signs(self, text: str) -> str:
        """Return a sentence with signs such as ½ as 1/2."""
        text = re.sub(r"(?<=\d)(?=[½⅓⅔¼¾⅛])", " ", text)
        return re.sub("[½⅓⅔¼¾⅛]", lambda found: _FRACTION_SIGNS[found[0]], text)

    def count(self, number: str, noun: Noun) -> str:
        """Return a number and what is counted as words."""
        few = self._language.few(*self._numerals.parse(number))
        words = [self._numerals.number(number, noun.gender), noun.one if few else noun.many]
        return self._signs.joint.join(filter(None, words))

    def _iso(self, found: re.Match[str]) -> str:
        before = found["before"] or ""
        date = self._language.date(
            str(int(found["d"])), int(found["m"]), found["y"], before.strip().lower()
        )
        return f"{before}{date}, {found['t']}" if found["t"] else before + date

    def _local(self, found: re.Match[str]) -> str:
        a, b = int(found["a"]), int(found["b"])
        month_first = self._language.month_first and found["mark"] != "."
        day, month = (b, a) if month_first else (a, b)
        if month > 12 >= day:  # noqa: PLR2004
            day, month = month, day
        if not (1 <= month <= 12 and 1 <= day <= 31):  # noqa: PLR2004
            return found[0]
        year = found["y"] if len(found["y"]) == 4 else "20" + found["y"]  # noqa: PLR2004
        before = found["before"] or ""
        return before + self._language.date(str(day), month, year, before.strip().lower())

    def _with_month(self, found: re.Match[str]) -> str:
        if not 1 <= int(found["d"]) <= 31:  # noqa: PLR2004
            return found[0]
        month = self._language.months[found["m"].lower()]
        before = found["before"] or ""
        date = self._language.date(
            str(int(found["d"])), month, found["y"] or "", before.strip().lower()
        )
        ends = "." if found[0].endswith(".") and found["m"].lower() == "mai" else ""
        return before + date + ends

    def _time(self, found: re.Match[str]) -> str:
        if int(found[1]) > 24:  # noqa: PLR2004
            return found[0]
        return self._language.time(str(int(found[1])), found[2], found[3] or "")

    def _duration(self, found: re.Match[str]) -> str:
        units = self._language.units
        parts = zip(("d", "h", "min", "s"), ("days", "hours", "minutes", "seconds"), strict=True)
        said = [self.count(found[name], units[unit]) for unit, name in parts if found[name]]
        ends = re.search(r"[,\s]*$", found[0])
        return self._signs.joint.join(said) + (ends[0] if ends else "")

    def _phone(self, found: re.Match[str]) -> str:
        plus = f"{self._signs.plus} " if found[0].startswith("+") else ""
        groups = re.findall(r"\d+", found[0])
        return plus + ", ".join(map(self._numerals.digits, groups))

    def _spoken_range(self, found: re.Match[str]) -> str:
        unit = found["unit"] or ""
        following = found.string[found.end() :].lstrip()
        if unit.strip() and following.startswith(unit.strip()):
            unit = ""
        return f"{found['first']}{unit} {self._signs.to} {found['second']}"

    def _sum(self, found: re.Match[str]) -> str:
        groups = found.groupdict()
        currency = self._language.currencies[found["money"]]
        sign = self._sign((found["sign"] or "") + (groups.get("sign2") or ""))
        if found["scale"]:
            scale = {"k": "thousand", "m": "million", "bn": "billion", "b": "billion"}
            word = found["scale"].strip()
            word = scale.get(word.lower(), word)
            return f"{sign}{self._numerals.number(found['number'])} {word} {currency.whole.many}"
        whole, fraction = self._numerals.parse(found["number"])
        joint = self._signs.joint
        if currency.part is None or len(fraction) not in (1, 2):
            number = f"{whole}.{fraction.rstrip('0')}" if fraction.rstrip("0") else whole
            return sign + self.count(number, currency.whole)
        cents = fraction.ljust(2, "0").lstrip("0")
        if whole.strip("0") == "" and cents:
            return sign + self.count(cents, currency.part)
        said = self.count(whole, currency.whole)
        if cents:
            between = f"{joint}{self._signs.and_}{joint}" if self._signs.and_ else joint
            said += between + self.count(cents, currency.part)
        return sign + said

    def _counted(self, found: re.Match[str]) -> str:
        said = self._sign(found["sign"]) + self.count(found["number"], self._noun(found["unit"]))
        return said + (self._said_per(found["per"]) if found["per"] else "")

    def per(self, text: str) -> str:
        """Return a sentence with what is left of /kWh and the like as words."""
        return self._per.sub(lambda found: self._said_per(found["per"]), text)

    def _said_per(self, unit: str) -> str:
        signs = self._signs
        return f"{signs.joint}{signs.per}{signs.joint}{self._noun(unit).one}"

    def _noun(self, unit: str) -> Noun:
        return self._signs.percent if unit == "%" else self._nouns[unit]

    def _sign(self, sign: str) -> str:
        signs = self._signs
        words = {
            **dict.fromkeys("-−–", signs.minus),
            "+": signs.plus,
            "±": signs.plus_minus,
            **dict.fromkeys("~≈", signs.about),
            "<": signs.less,
            ">": signs.more,
            "≤": signs.at_most,
            "≥": signs.at_least,
        }
        word = words.get(sign.strip(), "")
        return word + signs.joint if word else ""


def _nouns(language: Language) -> dict[str, Noun]:
    """Return what is counted by its signs, and by its own words: 1 hour as well as 1 h."""
    money = [noun for c in language.currencies.values() for noun in (c.whole, c.part) if noun]
    words = [
        (word, noun)
        for noun in (*language.units.values(), *money)
        for word in (noun.one, noun.many)
    ]
    return dict(words) | dict(language.units)


def _any_of(names: list[str]) -> str:
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


def _compound_duration() -> re.Pattern[str]:
    days, hours, minutes, seconds = _DURATIONS.values()

    def some(name: str) -> str:
        return rf"(?:(?P<{name}>\d{{1,4}})\s?(?:{_DURATIONS[name]})\.?(?![^\W\d_]),?\s?)?"

    # at least two of them: 5 m alone are metres
    return re.compile(
        rf"(?<![\w.,:/])(?=\d{{1,4}}\s?(?:{days}|{hours}|{minutes}),?\s?"
        rf"\d{{1,4}}\s?(?:{hours}|{minutes}|{seconds})(?![^\W\d_]))"
        rf"{some('days')}{some('hours')}{some('minutes')}{some('seconds')}"
    )
