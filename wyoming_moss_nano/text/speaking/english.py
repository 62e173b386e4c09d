"""English, in the forms of the United States."""

import re
from typing import Final

from . import english_words as words
from .language import Language, Noun, Signs, only_one
from .numerals import Numerals, Rulesets

_CLOCK: Final = re.compile(
    r"(?<![\w:.,])(\d{1,2})(?::([0-5]\d))?(?::[0-5]\d)?\s?([AaPp])(?:\.\s?[Mm]\.(?!\w)|[Mm](?!\w))"
)
_HOURS_RANGE: Final = re.compile(
    r"(?<![\w:.,])(\d{1,2}(?::[0-5]\d)?)\s?[-–]\s?(?=\d{1,2}(?::[0-5]\d)?\s?[AaPp]\.?[Mm])"
)
_MONTHS: Final = "|".join(sorted(words.MONTHS, key=len, reverse=True))
_MONTH_DAY: Final = re.compile(
    rf"(?<!\w)({_MONTHS})\.? (\d{{1,2}})(?:st|nd|rd|th)?(?![\w:%/]|[.,]\d)"
    r"(?:,? ([12]\d{3})(?![\w]))?",
    re.IGNORECASE,
)
_ORDINAL_MONTH: Final = re.compile(
    rf"(?<!\w)(\bthe )?(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTHS})(?!\w)\.?"
    r"(?:,? ([12]\d{3})(?!\w))?",
    re.IGNORECASE,
)
_ORDINAL: Final = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+)(?:st|nd|rd|th)(?!\w)")
_DECADE: Final = re.compile(r"(?<![\w.,])'?((?:1[1-9]|20)\d0)'?s(?!\w)")
_YEAR_WORDS: Final = (
    r"in|since|by|until|till|before|after|during|year|early|late|mid|around|circa|from|between|Q[1-4]|"
    r"(?:spring|summer|fall|autumn|winter|end|start|beginning|year) of|" + _MONTHS
)
_YEAR: Final = re.compile(
    rf"(?<!\w)({_YEAR_WORDS})(\.?,? |-)((?:1[1-9]|20)\d\d)"
    r"(?:( to | and |[-–])((?:1[1-9]|20)\d\d))?(?![\w%]|[.,:]\d|-\d)",
    re.IGNORECASE,
)
_YEAR_FIRST: Final = re.compile(
    r"(?:(?<=\()|^)((?:19|20)\d\d)"
    r"(?=\)| (?:was|is|will|has|had|brought|season|edition|model|election)\b)"
)
_YEAR_RANGE: Final = re.compile(r"(?<![\w.,/-])((?:19|20)\d\d)\s?[-–]\s?((?:19|20)\d\d)(?![\w-])")
_YEAR_VERSION: Final = re.compile(r"(?<![\w.,])(20\d\d)\.(\d{1,2})(?![\w]|[.,]\d)")
_CODE: Final = re.compile(
    r"\b((?:code|[Pp]ort|PIN|pin|OTP|passcode|password|ZIP|zip|serial number|account|extension"
    r"|flight)"
    r"(?: code)?(?: is|:| number)?:?) (\d{3,})(?![\w]|[.,]\d)"
)
_LONG: Final = re.compile(r"(?<![\w.,])\d{10,}(?![\w]|[.,]\d)")
_SHORT_PHONE: Final = re.compile(r"(?<![\w.,-])(?<!\) )(?<!\))(\d{3})-(\d{4})(?![\w-]|[.,]\d)")
_CALLED: Final = re.compile(r"\b([Cc]all|[Dd]ial|[Tt]ext) (\d{3,})(?![\w-]|[.,:]\d| \d)")
_FRACTION: Final = re.compile(r"(?<![\w/.,])(?:(\d+) )?(\d{1,3})/(\d{1,3})(?![\w/]|[.,]\d)")
_HASH: Final = re.compile(r"(?:#|(?<!\w)[Nn]o\. ?|(?<!\w)Nr\. ?)(?=\d)")
_TIMES: Final = re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?)[x×](?![\w])")
_BY: Final = re.compile(r"(?<![\w.,])(\d{3,5})\s?[x×]\s?(\d{3,5})(?!\w)")
_PRODUCT: Final = re.compile(r"(?<=\d)\s?[x×*]\s?(?=\d)")
_LIST_NUMBER: Final = re.compile(r"^(\d{1,3})[.)] (?=\S)")
_LETTERS_NUMBER: Final = re.compile(r"(?<![\w-])([A-Za-z]{2,})-(\d{1,4}(?:\.\d+)?)(?![\w-])")
_MIXED: Final = re.compile(r"(?<![\w.,])(?=\w{0,20}[A-Za-z])(?=\w{0,20}\d)\w{2,20}(?:\.\d)?(?!\w)")
_GROUP: Final = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)?|\w")
_CAPITALS: Final = re.compile(r"(?<![\w])([A-Z]{2,6})('s|s)?(?!\w)")
_LETTER_DOTS: Final = re.compile(r"(?<![\w.])((?:[A-Z]\.){2,})(?!\w)")
_POWER: Final = re.compile(r"\^(\d+)")
_SHARP: Final = re.compile(r"(?<!\w)([A-G])#(?!\w)")
_ALONE: Final = re.compile(
    r"(?<![\w/])("
    + "|".join(sorted(map(re.escape, words.UNITS_ALONE), key=len, reverse=True))
    + r")(?![\w/²³])"
)
_ABBREVIATION: Final = re.compile(
    r"(?<![\w.])(?:"
    + "|".join(sorted(map(re.escape, words.ABBREVIATIONS), key=len, reverse=True))
    + r")(?!\w)"
)
_SAINT: Final = re.compile(r"(?<!\w)St\. (?=[A-Z])")
_STREET: Final = re.compile(r"(?<=\w )St\.")
_DOCTOR_DRIVE: Final = re.compile(r"(?<=[a-z] )Dr\.(?=$|,)")
_ROMAN: Final = r"(?:X{0,3}(?:IX|IV|V?I{1,3}|V)|X{1,3}|L(?:X{0,3})(?:IX|IV|V?I{0,3}))"
_CHAPTER: Final = re.compile(rf"\b((?:{'|'.join(words.CHAPTERS)})) ({_ROMAN})(?!\w)")
_RULER: Final = re.compile(rf"\b((?:{'|'.join(words.RULERS)})) ({_ROMAN})(?!\w)")
_WEEKDAY_RANGE: Final = re.compile(
    r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b(?:\.?\s?([-–])\s?(Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b)?"
    r"(?=,? \d|,? (?:at|from|the)\b|[,.]|$)"
)
_SLASHED: Final = re.compile(r"(?<=[A-Za-z])/(?=[A-Za-z])")
_MINUS: Final = re.compile(r"(?<=[\d)]) [-−–] (?=[\d(])")
_HASHTAG: Final = re.compile(r"#(?=[A-Za-z])")
_SHORT_DATE: Final = re.compile(
    r"\b([Oo]n|[Bb]y|[Uu]ntil|[Ss]ince|[Dd]ue) (1[0-2]|0?[1-9])/([0-3]?\d)(?![\w/]|[.,]\d)"
)
_YEAR_OF_NAME: Final = re.compile(r"\b([Tt]he) ((?:19|20)\d\d)(?= [A-Z][a-z])")
_RESOLUTION: Final = re.compile(r"(?<![\w.,])([248])K(?!\w)")
_FEET: Final = re.compile(r"(?<![\w.,])(\d{1,2})'(\d{1,2})\"")


class English:
    """The rules that only English has, before and behind the common ones."""

    def __init__(self, numerals: Numerals) -> None:
        self._numerals = numerals

    def early(self, text: str) -> str:
        """Apply what common rules would take for something else."""
        text = _LIST_NUMBER.sub(lambda n: f"{self._numerals.cardinal(n[1]).capitalize()}: ", text)
        if "=" in text:
            text = _MINUS.sub(" minus ", text)
        text = _FEET.sub(r"\1 ft \2 inches", text)
        text = _RESOLUTION.sub(lambda f: f"{self._numerals.cardinal(f[1])} K", text)
        text = _BY.sub(r"\1 by \2", text)
        text = _HOURS_RANGE.sub(r"\1 to ", text)
        text = _CLOCK.sub(self._clock, text)
        text = _MONTH_DAY.sub(self._month_day, text)
        text = _SHORT_DATE.sub(self._short_date, text)
        text = _ORDINAL_MONTH.sub(self._ordinal_month, text)
        text = _CODE.sub(lambda f: f"{f[1]} {self._numerals.digits(f[2])}", text)
        text = _CALLED.sub(lambda f: f"{f[1]} {self._numerals.digits(f[2])}", text)
        text = _LONG.sub(lambda f: self._numerals.digits(f[0]), text)
        text = _SHORT_PHONE.sub(lambda f: ", ".join(map(self._numerals.digits, (f[1], f[2]))), text)
        return self._years(text)

    def late(self, text: str) -> str:
        """Apply what is left: numbers inside words, abbreviations, capitals, signs."""
        text = _FRACTION.sub(self._fraction, text)
        text = _HASH.sub("number ", text)
        text = _TIMES.sub(r"\1 times", text)
        text = _PRODUCT.sub(" times ", text)
        text = _ORDINAL.sub(lambda f: self._numerals.ordinal(f[1].replace(",", "")), text)
        text = _LETTERS_NUMBER.sub(r"\1 \2", text)
        text = _MIXED.sub(self._mixed, text)
        text = _POWER.sub(self._power, text)
        text = _CHAPTER.sub(lambda f: f"{f[1]} {self._numerals.cardinal(_roman(f[2]))}", text)
        text = _RULER.sub(lambda f: f"{f[1]} the {self._numerals.ordinal(_roman(f[2]))}", text)
        return self._words(text)

    def last(self, text: str) -> str:
        """Apply what is left once no number is: units and signs without one."""
        text = _ALONE.sub(lambda f: words.UNITS[f[1]].many, text)
        text = _CAPITALS.sub(_capitals, text)
        text = _SLASHED.sub(" ", text)
        text = re.sub(r"(?<=[a-z])\+\+", " plus plus", text, flags=re.IGNORECASE)
        for sign, word in words.SIGNS_LEFT.items():
            text = text.replace(sign, f" {word} ")
        text = re.sub(r"(?<=\w) [-−–] (?=\w)", ", ", text)
        text = re.sub(r"[|\\{}^_*#/]+", " ", text)
        text = re.sub(r"(?<=\w)[−–](?=\w)", "-", text)
        return re.sub(r" +(?=[,.;:!?)]|'s\b)|(?<=\() +", "", " ".join(text.split()))

    def _years(self, text: str) -> str:
        numerals = self._numerals
        text = _DECADE.sub(self._decade, text)
        text = _YEAR_RANGE.sub(lambda f: f"{numerals.year(f[1])} to {numerals.year(f[2])}", text)
        text = _YEAR.sub(self._year, text)
        text = _YEAR_OF_NAME.sub(lambda f: f"{f[1]} {numerals.year(f[2])}", text)
        text = _YEAR_FIRST.sub(lambda f: numerals.year(f[1]), text)
        return _YEAR_VERSION.sub(
            lambda f: f"{numerals.year(f[1])} point {numerals.cardinal(f[2].lstrip('0') or '0')}",
            text,
        )

    def _year(self, found: re.Match[str]) -> str:
        # a noun in the plural makes it a quantity: in 2000 steps
        following = found.string[found.end() :]
        if re.match(r" [a-z]{2,}s\b(?<!was)(?<!is)(?<!has)", following) or re.match(
            rf"\s?(?:{'|'.join(map(re.escape, words.UNITS))})(?!\w)", following
        ):
            return found[0]
        said = f"{found[1]}{found[2]}{self._numerals.year(found[3])}"
        if found[5]:
            between = found[4] if found[4].strip() == "and" else " to "
            said += f"{between}{self._numerals.year(found[5])}"
        return said

    def _decade(self, found: re.Match[str]) -> str:
        year = self._numerals.year(found[1])
        return year[:-1] + "ies" if year.endswith("y") else year + "s"

    def _clock(self, found: re.Match[str]) -> str:
        if not 1 <= int(found[1]) <= 12:  # noqa: PLR2004
            return found[0]
        said = f"{self._numerals.cardinal(str(int(found[1])))}{self._minutes(found[2] or '00')}"
        # the full stop of p.m. may be that of the sentence
        ends = "." if found[0].endswith(".") and not found.string[found.end() :].strip() else ""
        return f"{said} {found[3].upper()} M{ends}"

    def _minutes(self, minutes: str) -> str:
        if minutes == "00":
            return ""
        return (" oh " if minutes[0] == "0" else " ") + self._numerals.cardinal(str(int(minutes)))

    def time(self, hours: str, minutes: str, seconds: str) -> str:
        """Return a time of 24 hours; from 13 on, or at night, as P M and A M.

        0:05:00 is how Home Assistant shows what is left of a timer, and so a duration.
        """
        hour = int(hours)
        if seconds and hour == 0:
            said = [self._counted(minutes, "minute"), self._counted(seconds, "second")]
            return " ".join(filter(None, said)) or "zero seconds"
        half = " P M" if 13 <= hour < 24 else " A M" if hour in (0, 24) else ""  # noqa: PLR2004
        shown = hour - 12 if 13 <= hour < 24 else hour % 24 or 12  # noqa: PLR2004
        said_hour = self._numerals.cardinal(str(shown))
        full = " o'clock" if minutes == "00" and not half and not seconds else ""
        tail = f" and {self._counted(seconds, 'second')}" if seconds.strip("0") else ""
        return f"{said_hour}{self._minutes(minutes)}{full}{half}{tail}"

    def date(self, day: str, month: int, year: str, _before: str) -> str:
        """Return a date."""
        said = f"{words.MONTH_NAMES[month - 1]} {self._numerals.ordinal(day)}"
        return f"{said}, {self._numerals.year(year)}" if year else said

    def _date(self, day: str, month: str, year: str | None) -> str:
        return self.date(str(int(day)), words.MONTHS[month], year or "", "")

    def _short_date(self, found: re.Match[str]) -> str:
        if not 1 <= int(found[3]) <= 31:  # noqa: PLR2004
            return found[0]
        return f"{found[1]} {self.date(str(int(found[3])), int(found[2]), '', '')}"

    def _ordinal_month(self, found: re.Match[str]) -> str:
        if found[3][0].islower() or not 1 <= int(found[2]) <= 31:  # noqa: PLR2004
            return found[0]
        if not found[1]:
            return self._date(found[2], found[3].lower(), found[4])
        month = words.MONTH_NAMES[words.MONTHS[found[3].lower()] - 1]
        year = f", {self._numerals.year(found[4])}" if found[4] else ""
        return f"{found[1]}{self._numerals.ordinal(found[2])} of {month}{year}"

    def _month_day(self, found: re.Match[str]) -> str:
        if not 1 <= int(found[2]) <= 31 or found[1][0].islower():  # noqa: PLR2004
            return found[0]
        return self._date(found[2], found[1].lower(), found[3])

    def _counted(self, number: str, noun: str) -> str:
        digits = number.lstrip("0")
        return (
            f"{self._numerals.cardinal(digits)} {noun}{'' if digits == '1' else 's'}"
            if digits
            else ""
        )

    def _fraction(self, found: re.Match[str]) -> str:
        whole, above, below = found[1], int(found[2]), int(found[3])
        cardinal = self._numerals.cardinal
        if (above, below) == (24, 7):
            return f"{cardinal('24')} {cardinal('7')}"
        if below in words.FRACTIONS and 0 < above < below:
            one, many = words.FRACTIONS[below]
            said = f"{cardinal(found[2])} {one if above == 1 else many}"
            if whole and above == 1:
                said = f"a {one}"
            return f"{cardinal(whole)} and {said}" if whole else said
        between = "out of" if above <= below else "slash"
        return (
            f"{whole + ' ' if whole else ''}{cardinal(str(above))} {between} {cardinal(str(below))}"
        )

    def _mixed(self, found: re.Match[str]) -> str:
        """Read letters and digits in one word: CO2, MP3, ESP32."""
        return " ".join(map(self._part, _GROUP.findall(found[0])))

    def _part(self, part: str) -> str:
        if part[0].isdecimal():
            many = len(part) > 3 and "." not in part  # noqa: PLR2004
            return self._numerals.digits(part) if many else self._numerals.number(part)
        spelled = len(part) <= 2 or part in words.SPELLED or _vowelless(part)  # noqa: PLR2004
        return " ".join(part) if spelled and part.isupper() else part

    def _power(self, found: re.Match[str]) -> str:
        known = {"2": " squared", "3": " cubed"}
        return known.get(found[1], f" to the power of {self._numerals.cardinal(found[1])}")

    def _words(self, text: str) -> str:
        text = _SHARP.sub(r"\1 sharp", text)
        text = _HASHTAG.sub("hashtag ", text)
        text = _SAINT.sub("Saint ", _STREET.sub(_street, text))
        text = _DOCTOR_DRIVE.sub("Drive", text)
        text = _WEEKDAY_RANGE.sub(_weekdays, text)
        text = _ABBREVIATION.sub(_abbreviation, text)
        return _LETTER_DOTS.sub(_letters, text)


def _street(found: re.Match[str]) -> str:
    following = found.string[found.end() :]
    # St. Peter is a saint; what ends there, or goes on in small letters, is a street
    if re.match(r" [A-Z]", following):
        return found[0]
    return "Street" if following.strip() else "Street."


def _abbreviation(found: re.Match[str]) -> str:
    said = words.ABBREVIATIONS[found[0]]
    ends = found[0].endswith(".") and not found.string[found.end() :].strip(" \"')")
    return said + "." if ends else said


def _weekdays(found: re.Match[str]) -> str:
    first = words.WEEKDAYS[found[1]]
    return f"{first} to {words.WEEKDAYS[found[3]]}" if found[3] else first


def _letters(found: re.Match[str]) -> str:
    ends = "." if not found.string[found.end() :].strip() else ""
    return " ".join(found[1].replace(".", "")) + ends


def _vowelless(word: str) -> bool:
    return not set(word) & set("AEIOUY") and word not in words.READ


def _capitals(found: re.Match[str]) -> str:
    """Spell capitals that are no word; the plural's s stays with the last letter."""
    word, ending = found[1], found[2] or ""
    if word in words.SPELLED or _vowelless(word):
        return " ".join(word) + ending
    return found[0]


def _roman(numeral: str) -> str:
    values = {"I": 1, "V": 5, "X": 10, "L": 50}
    total = 0
    for sign, following in zip(numeral, [*numeral[1:], ""], strict=True):
        value = values[sign]
        total += -value if values.get(following, 0) > value else value
    return str(total)


def english() -> Language:
    """Return English."""
    numerals = Numerals("en", Rulesets(), ",", "point", digit_fractions=True)
    rules = English(numerals)
    return Language(
        code="en",
        numerals=numerals,
        signs=Signs(
            minus="minus",
            plus="plus",
            to="to",
            per="per",
            and_="and",
            at="at",
            dot="dot",
            point="point",
            slash="slash",
            about="about",
            less="less than",
            more="more than",
            at_most="at most",
            at_least="at least",
            plus_minus="plus or minus",
            percent=Noun("percent", "percent"),
        ),
        units=words.UNITS,
        currencies=words.CURRENCIES,
        few=only_one,
        months=words.MONTHS,
        date=rules.date,
        time=rules.time,
        early=(rules.early,),
        late=(rules.late,),
        last=(rules.last,),
        month_first=True,
    )
