"""Dutch."""

import re
from typing import Final

from .european import European, Words
from .language import Language, Noun, Signs, currencies, month_names, months, nouns, only_one
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

CURRENCIES: Final = currencies("""
    € EUR = euro / cent
    $ USD US$ = dollar / cent
    £ GBP = pond / penny, pence
    CHF = Zwitserse frank / rappen
    ¥ = yen
    ct = cent
""")
MONTHS: Final = months(
    "januari jan", "februari feb", "maart mrt", "april apr", "mei", "juni jun", "juli jul",
    "augustus aug", "september sep", "oktober okt", "november nov", "december dec",
)  # fmt: skip

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
_WORDS: Final = Words(
    month_names=month_names(MONTHS),
    before_years=r"[Ii]n|[Ss]inds|jaar|[Tt]ot|[Vv]an",
    abbreviations=_ABBREVIATIONS,
    hour=UNITS["h"],
    second=UNITS["s"],
    and_="en",
)


class Dutch(European):
    """The rules that only Dutch has."""

    def ordinals(self, text: str) -> str:
        """Return a sentence with 1e and 2de as words."""
        return _ORDINAL.sub(lambda f: self._numerals.ordinal(f[1]), text)


def dutch() -> Language:
    """Return Dutch."""
    numerals = Numerals("nl", Rulesets(), ".", "komma", digit_fractions=True)
    rules = Dutch(numerals, _WORDS)
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
        few=only_one,
        months=MONTHS,
        date=rules.date,
        time=rules.time,
        time_words=r"(?: uur| u| h)?(?!\w)",
        early=(rules.list_numbers, rules.years),
        late=(rules.ordinals, rules.abbreviations),
        spaced=False,
    )
