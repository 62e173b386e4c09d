"""Portuguese."""

import re
from typing import Final

from .language import Currency, Language, Noun, Signs, months, nouns
from .numerals import Numerals, Rulesets

UNITS: Final = nouns("""
    W = watt, watts
    kW = quilowatt, quilowatts
    MW = megawatt, megawatts
    Wh = watt-hora, watts-hora
    kWh = quilowatt-hora, quilowatts-hora
    MWh = megawatt-hora, megawatts-hora
    V = volt, volts
    mV = milivolt, milivolts
    kV = quilovolt, quilovolts
    A = ampere, amperes
    mA = miliampere, miliamperes
    Ah = ampere-hora, amperes-hora
    mAh = miliampere-hora, miliamperes-hora
    Ω = ohm, ohms
    Hz = hertz
    kHz = quilohertz
    MHz = megahertz
    GHz = gigahertz
    Pa = pascal, pascais
    hPa = hectopascal, hectopascais
    kPa = quilopascal, quilopascais
    bar = bar, bars
    mbar = milibar, milibares
    psi = P S I
    mm = milímetro, milímetros
    cm = centímetro, centímetros
    m = metro, metros
    km = quilómetro, quilómetros
    mi = milha, milhas, f
    ft = pé, pés
    m² m2 = metro quadrado, metros quadrados
    km² = quilómetro quadrado, quilómetros quadrados
    m³ m3 = metro cúbico, metros cúbicos
    L l = litro, litros
    ml mL = mililitro, mililitros
    m/s = metro por segundo, metros por segundo
    km/h = quilómetro por hora, quilómetros por hora
    mph = milha por hora, milhas por hora, f
    kn = nó, nós
    mm/h = milímetro por hora, milímetros por hora
    L/min = litro por minuto, litros por minuto
    m³/h = metro cúbico por hora, metros cúbicos por hora
    μg = micrograma, microgramas
    mg = miligrama, miligramas
    g = grama, gramas
    kg = quilograma, quilogramas
    lb = libra, libras, f
    μg/m³ μg/m3 = micrograma por metro cúbico, microgramas por metro cúbico
    mg/m³ mg/m3 = miligrama por metro cúbico, miligramas por metro cúbico
    ppm = parte por milhão, partes por milhão, f
    ppb = parte por bilião, partes por bilião, f
    lx = lux
    lm = lúmen, lúmens
    W/m² = watt por metro quadrado, watts por metro quadrado
    dB = decibel, decibéis
    dBm = decibel miliwatt, decibéis miliwatt
    B = byte, bytes
    kB KB = quilobyte, quilobytes
    MB = megabyte, megabytes
    GB = gigabyte, gigabytes
    TB = terabyte, terabytes
    kB/s KB/s = quilobyte por segundo, quilobytes por segundo
    MB/s = megabyte por segundo, megabytes por segundo
    GB/s = gigabyte por segundo, gigabytes por segundo
    Mbit/s Mbps = megabit por segundo, megabits por segundo
    Gbit/s = gigabit por segundo, gigabits por segundo
    rpm = rotação por minuto, rotações por minuto, f
    °C = grau Celsius, graus Celsius
    °F = grau Fahrenheit, graus Fahrenheit
    ° = grau, graus
    K = kelvin, kelvins
    ‰ = por mil
    ms = milissegundo, milissegundos
    s = segundo, segundos
    min = minuto, minutos
    h = hora, horas, f
    d = dia, dias
""")

CURRENCIES: Final = {
    **dict.fromkeys(("€", "EUR"), Currency(Noun("euro", "euros"), Noun("cêntimo", "cêntimos"))),
    **dict.fromkeys(
        ("$", "USD", "US$"), Currency(Noun("dólar", "dólares"), Noun("cêntimo", "cêntimos"))
    ),
    **dict.fromkeys(("£", "GBP"), Currency(Noun("libra", "libras", "f"), Noun("péni", "pence"))),
    **dict.fromkeys(("R$", "BRL"), Currency(Noun("real", "reais"), Noun("centavo", "centavos"))),
    "CHF": Currency(Noun("franco suíço", "francos suíços"), Noun("cêntimo", "cêntimos")),
    "¥": Currency(Noun("iene", "ienes")),
    "ct": Currency(Noun("cêntimo", "cêntimos")),
}
MONTH_NAMES: Final = (
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
).split()
MONTHS: Final = months(
    "janeiro jan", "fevereiro fev", "março mar", "abril abr", "maio mai", "junho jun",
    "julho jul", "agosto ago", "setembro set", "outubro out", "novembro nov", "dezembro dez",
)  # fmt: skip

_TWO: Final = 2  # from here on nouns are in the plural
_LIST_NUMBER: Final = re.compile(
    r"^(\d{1,3})[.)] (?=\S)(?!(?:de )?(?:" + "|".join(MONTH_NAMES) + "))"
)
_YEAR: Final = re.compile(
    r"\b([Ee]m|[Dd]esde|ano|[Aa]té|[Dd]e|"
    + "|".join(MONTH_NAMES)
    + r") (1[1-9]\d\d|20\d\d)(?![\w]|[.,:]\d|\s?[%€°])"
)
_HOURS: Final = re.compile(r"(?<![\w:.,])([01]?\d|2[0-4]) ?h ?([0-5]\d)(?!\w)")
# 3.º and 3ª are ordinals; 3° only before what is no direction or place
_ORDINAL: Final = re.compile(
    r"(?<![\w.,])(\d{1,3})(?:\.[ºª°]|ª"
    r"|[º°](?= (?!(?:di|de|da|a|al|e|y|o|en|em|in|con|com)\b)[a-zà-ú]))(?!\w)"
)
_ABBREVIATIONS: Final = {
    "Dr.": "doutor",
    "Dra.": "doutora",
    "Sr.": "senhor",
    "Sra.": "senhora",
    "aprox.": "aproximadamente",
    "p. ex.": "por exemplo",
    "p.ex.": "por exemplo",
    "etc.": "et cetera",
    "n.º": "número",
    "nº": "número",
    "Av.": "avenida",
}


class Portuguese:
    """The rules that only Portuguese has."""

    def __init__(self, numerals: Numerals) -> None:
        self._numerals = numerals

    def early(self, text: str) -> str:
        """Apply what common rules would take for something else."""
        text = _LIST_NUMBER.sub(lambda f: f"{self._numerals.cardinal(f[1]).capitalize()}: ", text)
        text = _HOURS.sub(r"\1:\2", text)
        text = _ORDINAL.sub(self._ordinal, text)
        return _YEAR.sub(lambda f: f"{f[1]} {self._numerals.year(f[2])}", text)

    def late(self, text: str) -> str:
        """Apply ordinals and abbreviations."""
        for short, said in _ABBREVIATIONS.items():
            text = re.sub(rf"(?<![\w.]){re.escape(short)}(?!\w)", said, text)
        return text

    def _ordinal(self, found: re.Match[str]) -> str:
        gender = "feminine" if "ª" in found[0] else "masculine"
        return self._numerals.ordinal(found[1], f"spellout-ordinal-{gender}")

    def date(self, day: str, month: int, year: str, _before: str) -> str:
        """Return a date."""
        number = "primeiro" if day == "1" else self._numerals.cardinal(day)
        said = f"{number} de {MONTH_NAMES[month - 1]}"
        return f"{said} de {self._numerals.cardinal(year)}" if year else said

    def time(self, hours: str, minutes: str, seconds: str) -> str:
        """Return a time of 24 hours."""
        said = f"{self._numerals.cardinal(hours, 'f')} hora{'' if int(hours) < _TWO else 's'}"
        if minutes != "00":
            said += f" e {self._numerals.cardinal(str(int(minutes)))}"
        if seconds.strip("0"):
            said += f" e {self._numerals.cardinal(str(int(seconds)), 'm')} segundos"
        return said


def portuguese() -> Language:
    """Return Portuguese."""
    rulesets = Rulesets(
        masculine="spellout-cardinal-masculine",
        feminine="spellout-cardinal-feminine",
        neuter="spellout-cardinal-masculine",
        ordinal="spellout-ordinal-masculine",
    )
    numerals = Numerals("pt", rulesets, ".", "vírgula", digit_fractions=False)
    rules = Portuguese(numerals)
    return Language(
        code="pt",
        numerals=numerals,
        signs=Signs(
            minus="menos",
            plus="mais",
            to="a",
            per="por",
            and_="e",
            at="arroba",
            dot="ponto",
            point="ponto",
            slash="barra",
            about="cerca de",
            less="menos de",
            more="mais de",
            at_most="no máximo",
            at_least="pelo menos",
            plus_minus="mais ou menos",
            percent=Noun("por cento", "por cento"),
        ),
        units=UNITS,
        currencies=CURRENCIES,
        few=lambda whole, _fraction: whole.lstrip("0") in ("", "1"),
        months=MONTHS,
        date=rules.date,
        time=rules.time,
        time_words=r"(?: horas?| h)?(?!\w)",
        early=(rules.early,),
        late=(rules.late,),
        spaced=True,
    )
