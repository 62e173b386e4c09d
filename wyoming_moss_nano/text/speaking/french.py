"""French."""

import re
from dataclasses import replace
from typing import Final

from .european import ROMANCE, European, Words
from .language import Language, Noun, Signs, below_two, currencies, month_names, months, nouns
from .numerals import Numerals

UNITS: Final = nouns("""
    W = watt, watts
    kW = kilowatt, kilowatts
    MW = mégawatt, mégawatts
    Wh = wattheure, wattheures
    kWh = kilowattheure, kilowattheures
    MWh = mégawattheure, mégawattheures
    V = volt, volts
    mV = millivolt, millivolts
    kV = kilovolt, kilovolts
    A = ampère, ampères
    mA = milliampère, milliampères
    Ah = ampèreheure, ampèreheures
    mAh = milliampèreheure, milliampèreheures
    Ω = ohm, ohms
    Hz = hertz
    kHz = kilohertz
    MHz = mégahertz
    GHz = gigahertz
    Pa = pascal, pascals
    hPa = hectopascal, hectopascals
    kPa = kilopascal, kilopascals
    bar = bar, bars
    mbar = millibar, millibars
    psi = P S I
    mm = millimètre, millimètres
    cm = centimètre, centimètres
    m = mètre, mètres
    km = kilomètre, kilomètres
    mi = mille, milles
    ft = pied, pieds
    m² m2 = mètre carré, mètres carrés
    km² = kilomètre carré, kilomètres carrés
    m³ m3 = mètre cube, mètres cubes
    L l = litre, litres
    ml mL = millilitre, millilitres
    m/s = mètre par seconde, mètres par seconde
    km/h = kilomètre par heure, kilomètres par heure
    mph = mille par heure, milles par heure
    kn = nœud, nœuds
    mm/h = millimètre par heure, millimètres par heure
    L/min = litre par minute, litres par minute
    m³/h = mètre cube par heure, mètres cubes par heure
    μg = microgramme, microgrammes
    mg = milligramme, milligrammes
    g = gramme, grammes
    kg = kilogramme, kilogrammes
    lb = livre, livres, f
    μg/m³ μg/m3 = microgramme par mètre cube, microgrammes par mètre cube
    mg/m³ mg/m3 = milligramme par mètre cube, milligrammes par mètre cube
    ppm = partie par million, parties par million, f
    ppb = partie par milliard, parties par milliard, f
    lx = lux
    lm = lumen, lumens
    W/m² = watt par mètre carré, watts par mètre carré
    dB = décibel, décibels
    dBm = décibel milliwatt, décibels milliwatt
    B = octet, octets
    kB KB = kilooctet, kilooctets
    MB = mégaoctet, mégaoctets
    GB = gigaoctet, gigaoctets
    TB = téraoctet, téraoctets
    kB/s KB/s = kilooctet par seconde, kilooctets par seconde
    MB/s = mégaoctet par seconde, mégaoctets par seconde
    GB/s = gigaoctet par seconde, gigaoctets par seconde
    Mbit/s Mbps = mégabit par seconde, mégabits par seconde
    Gbit/s = gigabit par seconde, gigabits par seconde
    rpm = tour par minute, tours par minute
    °C = degré Celsius, degrés Celsius
    °F = degré Fahrenheit, degrés Fahrenheit
    ° = degré, degrés
    K = kelvin, kelvins
    ‰ = pour mille
    ms = milliseconde, millisecondes, f
    s = seconde, secondes, f
    min = minute, minutes, f
    h = heure, heures, f
    d = jour, jours
""")

CURRENCIES: Final = currencies("""
    € EUR = euro, euros / centime, centimes
    $ USD US$ = dollar, dollars / cent, cents
    £ GBP = livre, livres, f / penny, pence
    CHF = franc suisse, francs suisses / centime, centimes
    ¥ = yen, yens
    ct = centime, centimes
""")
MONTHS: Final = months(
    "janvier janv", "février févr", "mars", "avril avr", "mai", "juin", "juillet juil", "août",
    "septembre sept", "octobre oct", "novembre nov", "décembre déc",
)  # fmt: skip

_ORDINAL: Final = re.compile(r"(?<![\w.,])(\d{1,4})(ers?|ères?|re|ère|e|ème|èmes|nd|nde)(?!\w)")
_ABBREVIATIONS: Final = {
    "Dr": "docteur",
    "M.": "monsieur",
    "Mme": "madame",
    "Mlle": "mademoiselle",
    "env.": "environ",
    "p. ex.": "par exemple",
    "p.ex.": "par exemple",
    "etc.": "et cetera",
    "n°": "numéro ",
    "av.": "avenue",
    "bd": "boulevard",
}
_WORDS: Final = Words(
    month_names=month_names(MONTHS),
    before_years=r"[Ee]n|[Dd]epuis|année|[Ll]'an|[Dd]e|[Jj]usqu'en",
    abbreviations=_ABBREVIATIONS,
    hour=UNITS["h"],
    second=UNITS["s"],
    and_="et",
    first="premier",
)


class French(European):
    """The rules that only French has."""

    def ordinals(self, text: str) -> str:
        """Return a sentence with 1er and 2e as words."""
        return _ORDINAL.sub(self._ordinal, text)

    def _ordinal(self, found: re.Match[str]) -> str:
        feminine = found[2].startswith(("ère", "re", "nde"))
        return self._numerals.ordinal(
            found[1], f"spellout-ordinal-{'feminine' if feminine else 'masculine'}"
        )

    def _said_minutes(self, minutes: str) -> str:
        return self._numerals.cardinal(str(int(minutes)), "f")


def french() -> Language:
    """Return French."""
    rulesets = replace(ROMANCE, year="spellout-numbering")
    numerals = Numerals("fr", rulesets, ".", "virgule", digit_fractions=False)
    rules = French(numerals, _WORDS)
    return Language(
        code="fr",
        numerals=numerals,
        signs=Signs(
            minus="moins",
            plus="plus",
            to="à",
            per="par",
            and_="et",
            at="arobase",
            dot="point",
            point="point",
            slash="barre oblique",
            about="environ",
            less="moins de",
            more="plus de",
            at_most="au plus",
            at_least="au moins",
            plus_minus="plus ou moins",
            percent=Noun("pour cent", "pour cent"),
        ),
        units=UNITS,
        currencies=CURRENCIES,
        few=below_two,
        months=MONTHS,
        date=rules.date,
        time=rules.time,
        time_words=r"(?: heures?| h)?(?!\w)",
        early=(rules.list_numbers, rules.clock_with_h, rules.years),
        late=(rules.ordinals, rules.abbreviations),
        spaced=True,
    )
