"""Italian."""

from typing import Final

from .european import ROMANCE, European, Words
from .language import Language, Noun, Signs, currencies, month_names, months, nouns, only_one
from .numerals import Numerals

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

CURRENCIES: Final = currencies("""
    € EUR = euro / centesimo, centesimi
    $ USD US$ = dollaro, dollari / centesimo, centesimi
    £ GBP = sterlina, sterline, f / penny, pence
    CHF = franco svizzero, franchi svizzeri / centesimo, centesimi
    ¥ = yen
    ct = centesimo, centesimi
""")
MONTHS: Final = months(
    "gennaio gen", "febbraio feb", "marzo mar", "aprile apr", "maggio mag", "giugno giu",
    "luglio lug", "agosto ago", "settembre set", "ottobre ott", "novembre nov", "dicembre dic",
)  # fmt: skip

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
_WORDS: Final = Words(
    month_names=month_names(MONTHS),
    before_years=r"[Nn]el|[Dd]al|anno|[Ff]ino al|[Dd]el",
    abbreviations=_ABBREVIATIONS,
    hour=UNITS["h"],
    second=UNITS["s"],
    and_="e",
    before_minutes="e",
    first="primo",
)


class Italian(European):
    """The rules that only Italian has."""

    def elisions(self, text: str) -> str:
        """Return a sentence in which an hour has lost a vowel."""
        return text.replace("una ora", "un'ora")

    def _said_hours(self, hours: str, minutes: str) -> str:
        said = self._numerals.cardinal(hours, "f" if hours == "1" else "")
        return f"{said} in punto" if minutes == "00" else said


def italian() -> Language:
    """Return Italian."""
    numerals = Numerals("it", ROMANCE, ".", "virgola", digit_fractions=False)
    rules = Italian(numerals, _WORDS)
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
        few=only_one,
        months=MONTHS,
        date=rules.date,
        time=rules.time,
        time_words=r"(?!\w)",
        early=(rules.list_numbers, rules.raised_ordinals, rules.years),
        late=(rules.abbreviations, rules.elisions),
        spaced=True,
    )
