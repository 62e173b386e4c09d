"""Spanish."""

import re
from typing import Final

from .language import Currency, Language, Noun, Signs, months, nouns
from .numerals import Numerals, Rulesets

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

CURRENCIES: Final = {
    **dict.fromkeys(("€", "EUR"), Currency(Noun("euro", "euros"), Noun("céntimo", "céntimos"))),
    **dict.fromkeys(
        ("$", "USD", "US$"), Currency(Noun("dólar", "dólares"), Noun("centavo", "centavos"))
    ),
    **dict.fromkeys(
        ("£", "GBP"), Currency(Noun("libra", "libras", "f"), Noun("penique", "peniques"))
    ),
    "CHF": Currency(Noun("franco suizo", "francos suizos"), Noun("céntimo", "céntimos")),
    "¥": Currency(Noun("yen", "yenes")),
    "ct": Currency(Noun("céntimo", "céntimos")),
}
MONTH_NAMES: Final = (
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
).split()
MONTHS: Final = months(
    "enero ene", "febrero feb", "marzo mar", "abril abr", "mayo may", "junio jun", "julio jul",
    "agosto ago", "septiembre sept sep", "octubre oct", "noviembre nov", "diciembre dic",
)  # fmt: skip

_LIST_NUMBER: Final = re.compile(
    r"^(\d{1,3})[.)] (?=\S)(?!(?:de )?(?:" + "|".join(MONTH_NAMES) + "))"
)
_YEAR: Final = re.compile(
    r"\b([Ee]n|[Dd]esde|año|[Hh]asta|[Dd]e|[Dd]el|"
    + "|".join(MONTH_NAMES)
    + r") (1[1-9]\d\d|20\d\d)(?![\w]|[.,:]\d|\s?[%€°])"
)
# 3.º and 3ª are ordinals; 3° only before what is no direction or place
_ORDINAL: Final = re.compile(
    r"(?<![\w.,])(\d{1,3})(?:\.[ºª°]|ª"
    r"|[º°](?= (?!(?:di|de|da|a|al|e|y|o|en|em|in|con|com)\b)[a-zà-ú]))(?!\w)"
)
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


class Spanish:
    """The rules that only Spanish has."""

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
        return text

    def _ordinal(self, found: re.Match[str]) -> str:
        gender = "feminine" if "ª" in found[0] else "masculine"
        if gender == "masculine" and re.match(r" [a-zá-ú]", found.string[found.end() :]):
            gender = "masculine-adjective"
        return self._numerals.ordinal(found[1], f"spellout-ordinal-{gender}")

    def date(self, day: str, month: int, year: str, _before: str) -> str:
        """Return a date."""
        number = "primero" if day == "1" else self._numerals.cardinal(day)
        said = f"{number} de {MONTH_NAMES[month - 1]}"
        return f"{said} de {self._numerals.cardinal(year)}" if year else said

    def time(self, hours: str, minutes: str, seconds: str) -> str:
        """Return a time of 24 hours."""
        said = self._numerals.cardinal(hours, "f")
        if minutes != "00":
            said += f" {self._cardinal_of_minutes(minutes)}"
        else:
            said += " hora" if hours == "1" else " horas"
        if seconds.strip("0"):
            said += f" y {self._numerals.cardinal(str(int(seconds)), 'm')} segundos"
        return said

    def _cardinal_of_minutes(self, minutes: str) -> str:
        return "cero " * (minutes[0] == "0") + self._numerals.cardinal(str(int(minutes)))


def spanish() -> Language:
    """Return Spanish."""
    rulesets = Rulesets(
        masculine="spellout-cardinal-masculine",
        feminine="spellout-cardinal-feminine",
        neuter="spellout-cardinal-masculine",
        ordinal="spellout-ordinal-masculine",
    )
    numerals = Numerals("es", rulesets, ".", "coma", digit_fractions=False)
    rules = Spanish(numerals)
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
        few=lambda whole, fraction: whole == "1" and not fraction,
        months=MONTHS,
        date=rules.date,
        time=rules.time,
        time_words=r"(?: horas?| h)?(?!\w)",
        early=(rules.early,),
        late=(rules.late,),
        spaced=True,
    )
