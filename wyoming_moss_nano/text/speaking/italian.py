"""Italian."""

import re
from typing import Final

from .language import Currency, Language, Noun, Signs, months, nouns
from .numerals import Numerals, Rulesets

UNITS: Final = nouns("""
    W = watt
    kW = kilowatt
    MW = megawatt
    Wh = wattora
    kWh = chilowattora
    MWh = megawattora
    V = volt
    mV = millivolt
    kV = kilovolt
    A = ampere
    mA = milliampere
    Ah = amperora
    mAh = milliamperora
    Ω = ohm
    Hz = hertz
    kHz = kilohertz
    MHz = megahertz
    GHz = gigahertz
    Pa = pascal
    hPa = ettopascal
    kPa = kilopascal
    bar = bar
    mbar = millibar
    psi = P S I
    mm = millimetro, millimetri
    cm = centimetro, centimetri
    m = metro, metri
    km = chilometro, chilometri
    mi = miglio, miglia
    ft = piede, piedi
    m² m2 = metro quadrato, metri quadrati
    km² = chilometro quadrato, chilometri quadrati
    m³ m3 = metro cubo, metri cubi
    L l = litro, litri
    ml mL = millilitro, millilitri
    m/s = metro al secondo, metri al secondo
    km/h = chilometro all'ora, chilometri all'ora
    mph = miglio all'ora, miglia all'ora
    kn = nodo, nodi
    mm/h = millimetro all'ora, millimetri all'ora
    L/min = litro al minuto, litri al minuto
    m³/h = metro cubo all'ora, metri cubi all'ora
    μg = microgrammo, microgrammi
    mg = milligrammo, milligrammi
    g = grammo, grammi
    kg = chilogrammo, chilogrammi
    lb = libbra, libbre, f
    μg/m³ μg/m3 = microgrammo al metro cubo, microgrammi al metro cubo
    mg/m³ mg/m3 = milligrammo al metro cubo, milligrammi al metro cubo
    ppm = parte per milione, parti per milione, f
    ppb = parte per miliardo, parti per miliardo, f
    lx = lux
    lm = lumen
    W/m² = watt al metro quadrato
    dB = decibel
    dBm = decibel milliwatt
    B = byte
    kB KB = kilobyte
    MB = megabyte
    GB = gigabyte
    TB = terabyte
    kB/s KB/s = kilobyte al secondo
    MB/s = megabyte al secondo
    GB/s = gigabyte al secondo
    Mbit/s Mbps = megabit al secondo
    Gbit/s = gigabit al secondo
    rpm = giro al minuto, giri al minuto
    °C = grado Celsius, gradi Celsius
    °F = grado Fahrenheit, gradi Fahrenheit
    ° = grado, gradi
    K = kelvin
    ‰ = per mille
    ms = millisecondo, millisecondi
    s = secondo, secondi
    min = minuto, minuti
    h = ora, ore, f
    d = giorno, giorni
""")

CURRENCIES: Final = {
    **dict.fromkeys(("€", "EUR"), Currency(Noun("euro", "euro"), Noun("centesimo", "centesimi"))),
    **dict.fromkeys(
        ("$", "USD", "US$"), Currency(Noun("dollaro", "dollari"), Noun("centesimo", "centesimi"))
    ),
    **dict.fromkeys(
        ("£", "GBP"), Currency(Noun("sterlina", "sterline", "f"), Noun("penny", "pence"))
    ),
    "CHF": Currency(Noun("franco svizzero", "franchi svizzeri"), Noun("centesimo", "centesimi")),
    "¥": Currency(Noun("yen", "yen")),
    "ct": Currency(Noun("centesimo", "centesimi")),
}
MONTH_NAMES: Final = (
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"
).split()
MONTHS: Final = months(
    "gennaio gen", "febbraio feb", "marzo mar", "aprile apr", "maggio mag", "giugno giu",
    "luglio lug", "agosto ago", "settembre set", "ottobre ott", "novembre nov", "dicembre dic",
)  # fmt: skip

_LIST_NUMBER: Final = re.compile(
    r"^(\d{1,3})[.)] (?=\S)(?!(?:de )?(?:" + "|".join(MONTH_NAMES) + "))"
)
_YEAR: Final = re.compile(
    r"\b([Nn]el|[Dd]al|anno|[Ff]ino al|[Dd]el|"
    + "|".join(MONTH_NAMES)
    + r") (1[1-9]\d\d|20\d\d)(?![\w]|[.,:]\d|\s?[%€°])"
)
# 3.º and 3ª are ordinals; 3° only before what is no direction or place
_ORDINAL: Final = re.compile(
    r"(?<![\w.,])(\d{1,3})(?:\.[ºª°]|ª"
    r"|[º°](?= (?!(?:di|de|da|a|al|e|y|o|en|em|in|con|com)\b)[a-zà-ú]))(?!\w)"
)
_ABBREVIATIONS: Final = {
    "Dott.": "dottor",
    "Sig.ra": "signora",
    "Sig.": "signor",
    "ca.": "circa",
    "p.es.": "per esempio",
    "es.": "esempio",
    "ecc.": "eccetera",
    "n.": "numero",
}


class Italian:
    """The rules that only Italian has."""

    def __init__(self, numerals: Numerals) -> None:
        self._numerals = numerals

    def early(self, text: str) -> str:
        """Apply what common rules would take for something else."""
        text = _LIST_NUMBER.sub(lambda f: f"{self._numerals.cardinal(f[1]).capitalize()}: ", text)
        text = _ORDINAL.sub(self._ordinal, text)
        return _YEAR.sub(lambda f: f"{f[1]} {self._numerals.year(f[2])}", text)

    def late(self, text: str) -> str:
        """Apply ordinals and abbreviations."""
        for short, said in _ABBREVIATIONS.items():
            text = re.sub(rf"(?<![\w.]){re.escape(short)}(?!\w)", said, text)
        return text.replace("una ora", "un'ora")

    def _ordinal(self, found: re.Match[str]) -> str:
        gender = "feminine" if "ª" in found[0] else "masculine"
        return self._numerals.ordinal(found[1], f"spellout-ordinal-{gender}")

    def date(self, day: str, month: int, year: str, _before: str) -> str:
        """Return a date."""
        number = "primo" if day == "1" else self._numerals.cardinal(day)
        said = f"{number} {MONTH_NAMES[month - 1]}"
        return f"{said} {self._numerals.cardinal(year)}" if year else said

    def time(self, hours: str, minutes: str, seconds: str) -> str:
        """Return a time of 24 hours."""
        said = (
            self._numerals.cardinal(hours, "f") if hours == "1" else self._numerals.cardinal(hours)
        )
        if minutes != "00":
            said += f" e {self._numerals.cardinal(str(int(minutes)))}"
        else:
            said += " in punto"
        if seconds.strip("0"):
            said += f" e {self._numerals.cardinal(str(int(seconds)), 'm')} secondi"
        return said


def italian() -> Language:
    """Return Italian."""
    rulesets = Rulesets(
        masculine="spellout-cardinal-masculine",
        feminine="spellout-cardinal-feminine",
        neuter="spellout-cardinal-masculine",
        ordinal="spellout-ordinal-masculine",
    )
    numerals = Numerals("it", rulesets, ".", "virgola", digit_fractions=False)
    rules = Italian(numerals)
    return Language(
        code="it",
        numerals=numerals,
        signs=Signs(
            minus="meno",
            plus="più",
            to="a",
            per="al",
            and_="e",
            at="chiocciola",
            dot="punto",
            point="punto",
            slash="barra",
            about="circa",
            less="meno di",
            more="più di",
            at_most="al massimo",
            at_least="almeno",
            plus_minus="più o meno",
            percent=Noun("per cento", "per cento"),
        ),
        units=UNITS,
        currencies=CURRENCIES,
        few=lambda whole, fraction: whole == "1" and not fraction,
        months=MONTHS,
        date=rules.date,
        time=rules.time,
        time_words=r"(?!\w)",
        early=(rules.early,),
        late=(rules.late,),
        spaced=True,
    )
