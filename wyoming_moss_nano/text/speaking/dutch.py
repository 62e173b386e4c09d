"""Dutch."""

import re
from typing import Final

from .language import Currency, Language, Noun, Signs, months, nouns
from .numerals import Numerals, Rulesets

UNITS: Final = nouns("""
    W = watt
    kW = kilowatt
    MW = megawatt
    Wh = wattuur
    kWh = kilowattuur
    MWh = megawattuur
    V = volt
    mV = millivolt
    kV = kilovolt
    A = ampère
    mA = milliampère
    Ah = ampère-uur
    mAh = milliampère-uur
    Ω = ohm
    Hz = hertz
    kHz = kilohertz
    MHz = megahertz
    GHz = gigahertz
    Pa = pascal
    hPa = hectopascal
    kPa = kilopascal
    bar = bar
    mbar = millibar
    psi = P S I
    mm = millimeter
    cm = centimeter
    m = meter
    km = kilometer
    mi = mijl
    ft = voet
    m² m2 = vierkante meter
    km² = vierkante kilometer
    m³ m3 = kubieke meter
    L l = liter
    ml mL = milliliter
    m/s = meter per seconde
    km/h = kilometer per uur
    mph = mijl per uur
    kn = knoop, knopen
    mm/h = millimeter per uur
    L/min = liter per minuut
    m³/h = kubieke meter per uur
    μg = microgram
    mg = milligram
    g = gram
    kg = kilogram
    lb = pond
    μg/m³ μg/m3 = microgram per kubieke meter
    mg/m³ mg/m3 = milligram per kubieke meter
    ppm = deel per miljoen, delen per miljoen
    ppb = deel per miljard, delen per miljard
    lx = lux
    lm = lumen
    W/m² = watt per vierkante meter
    dB = decibel
    dBm = decibel milliwatt
    B = byte
    kB KB = kilobyte
    MB = megabyte
    GB = gigabyte
    TB = terabyte
    kB/s KB/s = kilobyte per seconde
    MB/s = megabyte per seconde
    GB/s = gigabyte per seconde
    Mbit/s Mbps = megabit per seconde
    Gbit/s = gigabit per seconde
    rpm = toer per minuut, toeren per minuut
    °C = graad Celsius, graden Celsius
    °F = graad Fahrenheit, graden Fahrenheit
    ° = graad, graden
    K = kelvin
    ‰ = promille
    ms = milliseconde, milliseconden
    s = seconde, seconden
    min = minuut, minuten
    h uur = uur
    d = dag, dagen
""")

CURRENCIES: Final = {
    **dict.fromkeys(("€", "EUR"), Currency(Noun("euro", "euro"), Noun("cent", "cent"))),
    **dict.fromkeys(("$", "USD", "US$"), Currency(Noun("dollar", "dollar"), Noun("cent", "cent"))),
    **dict.fromkeys(("£", "GBP"), Currency(Noun("pond", "pond"), Noun("penny", "pence"))),
    "CHF": Currency(Noun("Zwitserse frank", "Zwitserse frank"), Noun("rappen", "rappen")),
    "¥": Currency(Noun("yen", "yen")),
    "ct": Currency(Noun("cent", "cent")),
}
MONTH_NAMES: Final = (
    "januari februari maart april mei juni juli augustus september oktober november december"
).split()
MONTHS: Final = months(
    "januari jan", "februari feb", "maart mrt", "april apr", "mei", "juni jun", "juli jul",
    "augustus aug", "september sep", "oktober okt", "november nov", "december dec",
)  # fmt: skip

_LIST_NUMBER: Final = re.compile(
    r"^(\d{1,3})[.)] (?=\S)(?!(?:de )?(?:" + "|".join(MONTH_NAMES) + "))"
)
_YEAR: Final = re.compile(
    r"\b([Ii]n|[Ss]inds|jaar|[Tt]ot|[Vv]an|"
    + "|".join(MONTH_NAMES)
    + r") (1[1-9]\d\d|20\d\d)(?![\w]|[.,:]\d|\s?[%€°])"
)
_ORDINAL: Final = re.compile(r"(?<![\w.,])(\d{1,4})(?:e|ste|de)(?!\w)")
_ABBREVIATIONS: Final = {
    "dr.": "dokter",
    "dhr.": "de heer",
    "mevr.": "mevrouw",
    "ca.": "circa",
    "bijv.": "bijvoorbeeld",
    "bv.": "bijvoorbeeld",
    "d.w.z.": "dat wil zeggen",
    "enz.": "enzovoort",
    "nr.": "nummer",
    "o.a.": "onder andere",
}


class Dutch:
    """The rules that only Dutch has."""

    def __init__(self, numerals: Numerals) -> None:
        self._numerals = numerals

    def early(self, text: str) -> str:
        """Apply what common rules would take for something else."""
        text = _LIST_NUMBER.sub(lambda f: f"{self._numerals.cardinal(f[1]).capitalize()}: ", text)
        return _YEAR.sub(lambda f: f"{f[1]} {self._numerals.year(f[2])}", text)

    def late(self, text: str) -> str:
        """Apply ordinals and abbreviations."""
        text = _ORDINAL.sub(lambda f: self._numerals.ordinal(f[1]), text)
        for short, said in _ABBREVIATIONS.items():
            text = re.sub(rf"(?<![\w.]){re.escape(short)}(?!\w)", said, text)
        return text

    def date(self, day: str, month: int, year: str, _before: str) -> str:
        """Return a date."""
        said = f"{self._numerals.cardinal(day)} {MONTH_NAMES[month - 1]}"
        return f"{said} {self._numerals.year(year)}" if year else said

    def time(self, hours: str, minutes: str, seconds: str) -> str:
        """Return a time of 24 hours."""
        said = f"{self._numerals.cardinal(hours)} uur"
        if minutes != "00":
            said += f" {self._numerals.cardinal(str(int(minutes)))}"
        if seconds.strip("0"):
            said += f" en {self._numerals.cardinal(str(int(seconds)))} seconden"
        return said


def dutch() -> Language:
    """Return Dutch."""
    rulesets = Rulesets()
    numerals = Numerals("nl", rulesets, ".", "komma", digit_fractions=True)
    rules = Dutch(numerals)
    return Language(
        code="nl",
        numerals=numerals,
        signs=Signs(
            minus="min",
            plus="plus",
            to="tot",
            per="per",
            and_="en",
            at="apenstaartje",
            dot="punt",
            point="punt",
            slash="slash",
            about="ongeveer",
            less="minder dan",
            more="meer dan",
            at_most="hoogstens",
            at_least="minstens",
            plus_minus="plus of min",
            percent=Noun("procent", "procent"),
        ),
        units=UNITS,
        currencies=CURRENCIES,
        few=lambda whole, fraction: whole == "1" and not fraction,
        months=MONTHS,
        date=rules.date,
        time=rules.time,
        time_words=r"(?: uur| u| h)?(?!\w)",
        early=(rules.early,),
        late=(rules.late,),
        spaced=False,
    )
