"""German."""

import re
from typing import Final

from .language import Currency, Language, Noun, Signs, months, nouns
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

_EURO: Final = Currency(Noun("Euro", "Euro"), Noun("Cent", "Cent"))
_DOLLAR: Final = Currency(Noun("Dollar", "Dollar"), Noun("Cent", "Cent"))
CURRENCIES: Final = {
    **dict.fromkeys(("€", "EUR", "Euro"), _EURO),
    **dict.fromkeys(("$", "USD", "US$"), _DOLLAR),
    **dict.fromkeys(("£", "GBP"), Currency(Noun("Pfund", "Pfund"), Noun("Penny", "Pence"))),
    **dict.fromkeys(("CHF", "Fr."), Currency(Noun("Franken", "Franken"), Noun("Rappen", "Rappen"))),
    "¥": Currency(Noun("Yen", "Yen")),
    "ct": Currency(Noun("Cent", "Cent")),
}
MONTH_NAMES: Final = (
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
)
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
_LIST_NUMBER: Final = re.compile(r"^(\d{1,3})[.)] (?=\S)")
_YEAR: Final = re.compile(
    r"\b([Ss]eit|[Ii]m Jahr|[Jj]ahr|[Aa]nno|[Vv]on|[Bb]is|"
    + "|".join(MONTH_NAMES)
    + r") (1[1-9]\d\d|20\d\d)(?![\w]|[.,:]\d|\s?[%€°])(?! [A-ZÄÖÜ])"
)
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


class German:
    """The rules that only German has."""

    def __init__(self, numerals: Numerals) -> None:
        self._numerals = numerals

    def early(self, text: str) -> str:
        """Apply what common rules would take for something else."""
        if not re.match(rf"\d+\. (?:{'|'.join(MONTHS)})", text, re.IGNORECASE):
            text = _LIST_NUMBER.sub(
                lambda f: f"{self._numerals.cardinal(f[1]).capitalize()}: ", text
            )
        text = _SHORT_DATE.sub(self._short_date, text)
        text = _ONE_O_CLOCK.sub("ein", _CLOCK.sub(r"\1:\2", text))
        text = _TIMES.sub(r"\1 mal", text)
        return _YEAR.sub(lambda f: f"{f[1]} {self._numerals.year(f[2])}", text)

    def late(self, text: str) -> str:
        """Apply ordinals and abbreviations."""
        text = _ORDINAL.sub(self._ordinal, text)
        for short, said in _ABBREVIATIONS.items():
            text = re.sub(rf"(?<![\w.]){re.escape(short)}(?!\w)", said, text)
        return text

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

    def date(self, day: str, month: int, year: str, before: str) -> str:
        """Return a date, its day as the word before it wants."""
        said = f"{self._inflected(day, before)} {MONTH_NAMES[month - 1]}"
        return f"{said} {self._numerals.year(year)}" if year else said

    def time(self, hours: str, minutes: str, seconds: str) -> str:
        """Return a time of 24 hours."""
        said = f"{self._numerals.cardinal(hours, 'n')} Uhr"
        if minutes != "00":
            said += f" {self._numerals.cardinal(str(int(minutes)))}"
        if seconds.strip("0"):
            said += f" und {self._numerals.cardinal(str(int(seconds)), 'f')} Sekunden"
        return said


def german() -> Language:
    """Return German."""
    rulesets = Rulesets(
        masculine="spellout-cardinal-masculine",
        feminine="spellout-cardinal-feminine",
        neuter="spellout-cardinal-neuter",
    )
    numerals = Numerals("de", rulesets, ".", "Komma", digit_fractions=True)
    rules = German(numerals)
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
        few=lambda whole, fraction: whole == "1" and not fraction,
        months=MONTHS,
        date=rules.date,
        time=rules.time,
        time_words=r"(?: Uhr| h)?(?!\w)",
        early=(rules.early,),
        late=(rules.late,),
        spaced=True,
    )
