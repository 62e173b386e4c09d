"""German."""

import re
from typing import Final

from .european import European, Words
from .language import Language, Noun, Signs, currencies, month_names, months, nouns, only_one
from .numerals import Numerals, Rulesets

UNITS: Final = nouns("""
    W = Watt
    kW = Kilowatt
    MW = Megawatt
    Wh = Wattstunde, Wattstunden, f
    kWh = Kilowattstunde, Kilowattstunden, f
    MWh = Megawattstunde, Megawattstunden, f
    V = Volt
    mV = Millivolt
    kV = Kilovolt
    A = Ampere
    mA = Milliampere
    Ah = Amperestunde, Amperestunden, f
    mAh = Milliamperestunde, Milliamperestunden, f
    Ω = Ohm
    Hz = Hertz
    kHz = Kilohertz
    MHz = Megahertz
    GHz = Gigahertz
    Pa = Pascal
    hPa = Hektopascal
    kPa = Kilopascal
    bar = Bar
    mbar = Millibar
    psi = P S I
    mm = Millimeter
    cm = Zentimeter
    m = Meter
    km = Kilometer
    mi = Meile, Meilen, f
    ft = Fuß
    m² m2 = Quadratmeter
    km² = Quadratkilometer
    m³ m3 = Kubikmeter
    L l = Liter
    ml mL = Milliliter
    m/s = Meter pro Sekunde
    km/h = Kilometer pro Stunde
    mph = Meile pro Stunde, Meilen pro Stunde, f
    kn = Knoten
    mm/h = Millimeter pro Stunde
    L/min = Liter pro Minute
    m³/h = Kubikmeter pro Stunde
    μg = Mikrogramm
    mg = Milligramm
    g = Gramm
    kg = Kilogramm
    lb = Pfund
    μg/m³ μg/m3 = Mikrogramm pro Kubikmeter
    mg/m³ mg/m3 = Milligramm pro Kubikmeter
    ppm = Teil pro Million, Teile pro Million
    ppb = Teil pro Milliarde, Teile pro Milliarde
    lx = Lux
    lm = Lumen
    W/m² = Watt pro Quadratmeter
    dB = Dezibel
    dBm = Dezibel Milliwatt
    B = Byte
    kB KB = Kilobyte
    MB = Megabyte
    GB = Gigabyte
    TB = Terabyte
    kB/s KB/s = Kilobyte pro Sekunde
    MB/s = Megabyte pro Sekunde
    GB/s = Gigabyte pro Sekunde
    Mbit/s Mbps = Megabit pro Sekunde
    Gbit/s = Gigabit pro Sekunde
    rpm = Umdrehung pro Minute, Umdrehungen pro Minute, f
    °C = Grad Celsius
    °F = Grad Fahrenheit
    ° = Grad
    K = Kelvin
    ‰ = Promille
    ms = Millisekunde, Millisekunden, f
    s Sek Sekunden = Sekunde, Sekunden, f
    min Min Minuten = Minute, Minuten, f
    h Std Stunden = Stunde, Stunden, f
    d Tage = Tag, Tage
""")

CURRENCIES: Final = currencies("""
    € EUR Euro = Euro / Cent
    $ USD US$ = Dollar / Cent
    £ GBP = Pfund / Penny, Pence
    CHF Fr. = Franken / Rappen
    ¥ = Yen
    ct = Cent
""")
MONTHS: Final = months(
    "januar jan", "februar feb", "märz mär", "april apr", "mai", "juni jun", "juli jul",
    "august aug", "september sept sep", "oktober okt", "november nov", "dezember dez",
)  # fmt: skip

# Ordinals end as the word before them wants: am dritten, der dritte, dritter.
_WEAK: Final = frozenset("am dem den vom zum beim ab bis seit im".split())
_ORDINAL: Final = re.compile(r"(?<![\w.,])(?:(\w+) )?(\d{1,3})\. (?=[A-ZÄÖÜ][a-zäöüß])")
_SHORT_DATE: Final = re.compile(r"(?<![\w.,])(?:(\w+) )?([0-3]?\d)\.([01]?\d)\.(?![\w.])")
_CLOCK: Final = re.compile(r"(?<![\w.,])(\d{1,2})\.([0-5]\d)(?= Uhr)")
_ONE_O_CLOCK: Final = re.compile(r"(?<![\w.,:])1(?= Uhr)")
_TIMES: Final = re.compile(r"(?<![\w.,])(\d+)\s?[x×](?!\w)")
_DAY: Final = re.compile(rf"\d+\. (?:{'|'.join(MONTHS)})", re.IGNORECASE)
_ABBREVIATIONS: Final = {
    "z. B.": "zum Beispiel",
    "z.B.": "zum Beispiel",
    "d. h.": "das heißt",
    "d.h.": "das heißt",
    "u. a.": "unter anderem",
    "u.a.": "unter anderem",
    "usw.": "und so weiter",
    "bzw.": "beziehungsweise",
    "ca.": "circa",
    "ggf.": "gegebenenfalls",
    "evtl.": "eventuell",
    "inkl.": "inklusive",
    "Dr.": "Doktor",
    "Nr.": "Nummer",
    "Str.": "Straße",
    "max.": "maximal",
    "min.": "minimal",
}
_WORDS: Final = Words(
    month_names=[name.capitalize() for name in month_names(MONTHS)],
    before_years=r"[Ss]eit|[Ii]m Jahr|[Jj]ahr|[Aa]nno|[Vv]on|[Bb]is",
    behind_years=r"(?! [A-ZÄÖÜ])",
    abbreviations=_ABBREVIATIONS,
    hour=Noun("Uhr", "Uhr", "n"),
    second=UNITS["s"],
    and_="und",
)


class German(European):
    """The rules that only German has."""

    def short_dates(self, text: str) -> str:
        """Return a sentence with 24.12. as words."""
        return _SHORT_DATE.sub(self._short_date, text)

    def clock_with_stop(self, text: str) -> str:
        """Return a sentence with 14.30 Uhr as 14:30 Uhr, and 1 Uhr as ein Uhr."""
        return _ONE_O_CLOCK.sub("ein", _CLOCK.sub(r"\1:\2", text))

    def multiples(self, text: str) -> str:
        """Return a sentence with 3x as 3 mal."""
        return _TIMES.sub(r"\1 mal", text)

    def ordinals(self, text: str) -> str:
        """Return a sentence with 3. before a noun as a word."""
        return _ORDINAL.sub(self._ordinal, text)

    def _starts_with_day(self, text: str) -> bool:
        return bool(_DAY.match(text))

    def _ordinal(self, found: re.Match[str]) -> str:
        before = f"{found[1]} " if found[1] else ""
        return f"{before}{self._inflected(found[2], (found[1] or '').lower())} "

    def _short_date(self, found: re.Match[str]) -> str:
        if not (1 <= int(found[2]) <= 31 and 1 <= int(found[3]) <= 12):  # noqa: PLR2004
            return found[0]
        before = f"{found[1]} " if found[1] else ""
        ends = "" if found.string[found.end() :].strip() else "."
        return before + self.date(found[2], int(found[3]), "", before.strip().lower()) + ends

    def _inflected(self, number: str, before: str) -> str:
        ending = "n" if before in _WEAK else "" if before in ("der", "die", "das") else "r"
        ruleset = f"spellout-ordinal-{ending}" if ending else "spellout-ordinal"
        return self._numerals.ordinal(number, ruleset)

    def _said_day(self, day: str, before: str) -> str:
        return self._inflected(day, before)


def german() -> Language:
    """Return German."""
    rulesets = Rulesets(
        masculine="spellout-cardinal-masculine",
        feminine="spellout-cardinal-feminine",
        neuter="spellout-cardinal-neuter",
    )
    numerals = Numerals("de", rulesets, ".", "Komma", digit_fractions=True)
    rules = German(numerals, _WORDS)
    return Language(
        code="de",
        numerals=numerals,
        signs=Signs(
            minus="minus",
            plus="plus",
            to="bis",
            per="pro",
            and_="",
            at="at",
            dot="Punkt",
            point="Punkt",
            slash="Schrägstrich",
            about="etwa",
            less="unter",
            more="über",
            at_most="höchstens",
            at_least="mindestens",
            plus_minus="plus minus",
            percent=Noun("Prozent", "Prozent", "n"),
        ),
        units=UNITS,
        currencies=CURRENCIES,
        few=only_one,
        months=MONTHS,
        date=rules.date,
        time=rules.time,
        time_words=r"(?: Uhr| h)?(?!\w)",
        early=(
            rules.list_numbers,
            rules.short_dates,
            rules.clock_with_stop,
            rules.multiples,
            rules.years,
        ),
        late=(rules.ordinals, rules.abbreviations),
        spaced=True,
    )
