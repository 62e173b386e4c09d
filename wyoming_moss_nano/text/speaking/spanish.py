"""Spanish."""

import re
from typing import Final

from .european import ROMANCE, European, Words
from .language import Language, Noun, Signs, currencies, month_names, months, nouns, only_one
from .numerals import Numerals

UNITS: Final = nouns("""
    W = vatio, vatios
    kW = kilovatio, kilovatios
    MW = megavatio, megavatios
    Wh = vatio hora, vatios hora
    kWh = kilovatio hora, kilovatios hora
    MWh = megavatio hora, megavatios hora
    V = voltio, voltios
    mV = milivoltio, milivoltios
    kV = kilovoltio, kilovoltios
    A = amperio, amperios
    mA = miliamperio, miliamperios
    Ah = amperio hora, amperios hora
    mAh = miliamperio hora, miliamperios hora
    Ω = ohmio, ohmios
    Hz = hercio, hercios
    kHz = kilohercio, kilohercios
    MHz = megahercio, megahercios
    GHz = gigahercio, gigahercios
    Pa = pascal, pascales
    hPa = hectopascal, hectopascales
    kPa = kilopascal, kilopascales
    bar = bar, bares
    mbar = milibar, milibares
    psi = P S I
    mm = milímetro, milímetros
    cm = centímetro, centímetros
    m = metro, metros
    km = kilómetro, kilómetros
    mi = milla, millas, f
    ft = pie, pies
    m² m2 = metro cuadrado, metros cuadrados
    km² = kilómetro cuadrado, kilómetros cuadrados
    m³ m3 = metro cúbico, metros cúbicos
    L l = litro, litros
    ml mL = mililitro, mililitros
    m/s = metro por segundo, metros por segundo
    km/h = kilómetro por hora, kilómetros por hora
    mph = milla por hora, millas por hora, f
    kn = nudo, nudos
    mm/h = milímetro por hora, milímetros por hora
    L/min = litro por minuto, litros por minuto
    m³/h = metro cúbico por hora, metros cúbicos por hora
    μg = microgramo, microgramos
    mg = miligramo, miligramos
    g = gramo, gramos
    kg = kilogramo, kilogramos
    lb = libra, libras, f
    μg/m³ μg/m3 = microgramo por metro cúbico, microgramos por metro cúbico
    mg/m³ mg/m3 = miligramo por metro cúbico, miligramos por metro cúbico
    ppm = parte por millón, partes por millón, f
    ppb = parte por mil millones, partes por mil millones, f
    lx = lux
    lm = lumen, lúmenes
    W/m² = vatio por metro cuadrado, vatios por metro cuadrado
    dB = decibelio, decibelios
    dBm = decibelio milivatio, decibelios milivatio
    B = byte, bytes
    kB KB = kilobyte, kilobytes
    MB = megabyte, megabytes
    GB = gigabyte, gigabytes
    TB = terabyte, terabytes
    kB/s KB/s = kilobyte por segundo, kilobytes por segundo
    MB/s = megabyte por segundo, megabytes por segundo
    GB/s = gigabyte por segundo, gigabytes por segundo
    Mbit/s Mbps = megabit por segundo, megabits por segundo
    Gbit/s = gigabit por segundo, gigabits por segundo
    rpm = revolución por minuto, revoluciones por minuto, f
    °C = grado Celsius, grados Celsius
    °F = grado Fahrenheit, grados Fahrenheit
    ° = grado, grados
    K = kelvin
    ‰ = por mil
    ms = milisegundo, milisegundos
    s = segundo, segundos
    min = minuto, minutos
    h = hora, horas, f
    d = día, días
""")

CURRENCIES: Final = currencies("""
    € EUR = euro, euros / céntimo, céntimos
    $ USD US$ = dólar, dólares / centavo, centavos
    £ GBP = libra, libras, f / penique, peniques
    CHF = franco suizo, francos suizos / céntimo, céntimos
    ¥ = yen, yenes
    ct = céntimo, céntimos
""")
MONTHS: Final = months(
    "enero ene", "febrero feb", "marzo mar", "abril abr", "mayo may", "junio jun", "julio jul",
    "agosto ago", "septiembre sept sep", "octubre oct", "noviembre nov", "diciembre dic",
)  # fmt: skip

_ABBREVIATIONS: Final = {
    "Dr.": "doctor",
    "Dra.": "doctora",
    "Sr.": "señor",
    "Sra.": "señora",
    "aprox.": "aproximadamente",
    "p. ej.": "por ejemplo",
    "p.ej.": "por ejemplo",
    "etc.": "etcétera",
    "núm.": "número",
    "n.º": "número",
    "Avda.": "avenida",
}
_WORDS: Final = Words(
    month_names=month_names(MONTHS),
    before_years=r"[Ee]n|[Dd]esde|año|[Hh]asta|[Dd]e|[Dd]el",
    abbreviations=_ABBREVIATIONS,
    hour=UNITS["h"],
    second=UNITS["s"],
    and_="y",
    of=" de ",
    first="primero",
)


class Spanish(European):
    """The rules that only Spanish has."""

    def _raised_ordinal(self, found: re.Match[str]) -> str:
        # before a noun: el tercer piso, not el tercero piso
        if "ª" not in found[0] and re.match(r" [a-zá-ú]", found.string[found.end() :]):
            return self._numerals.ordinal(found[1], "spellout-ordinal-masculine-adjective")
        return super()._raised_ordinal(found)

    def _said_hours(self, hours: str, minutes: str) -> str:
        hour = self._words.hour
        said = self._numerals.cardinal(hours, hour.gender)
        if minutes != "00":
            return said
        return f"{said} {hour.one if hours == '1' else hour.many}"

    def _said_minutes(self, minutes: str) -> str:
        return "cero " * (minutes[0] == "0") + super()._said_minutes(minutes)


def spanish() -> Language:
    """Return Spanish."""
    numerals = Numerals("es", ROMANCE, ".", "coma", digit_fractions=False)
    rules = Spanish(numerals, _WORDS)
    return Language(
        code="es",
        numerals=numerals,
        signs=Signs(
            minus="menos",
            plus="más",
            to="a",
            per="por",
            and_="con",
            at="arroba",
            dot="punto",
            point="punto",
            slash="barra",
            about="unos",
            less="menos de",
            more="más de",
            at_most="como máximo",
            at_least="al menos",
            plus_minus="más menos",
            percent=Noun("por ciento", "por ciento"),
        ),
        units=UNITS,
        currencies=CURRENCIES,
        few=only_one,
        months=MONTHS,
        date=rules.date,
        time=rules.time,
        time_words=r"(?: horas?| h)?(?!\w)",
        early=(rules.list_numbers, rules.raised_ordinals, rules.years),
        late=(rules.abbreviations,),
        spaced=True,
    )
