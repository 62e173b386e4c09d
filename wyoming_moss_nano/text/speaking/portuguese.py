"""Portuguese."""

from typing import Final

from .european import ROMANCE, European, Words
from .language import Language, Noun, Signs, below_two, currencies, month_names, months, nouns
from .numerals import Numerals

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

CURRENCIES: Final = currencies("""
    € EUR = euro, euros / cêntimo, cêntimos
    $ USD US$ = dólar, dólares / cêntimo, cêntimos
    £ GBP = libra, libras, f / péni, pence
    R$ BRL = real, reais / centavo, centavos
    CHF = franco suíço, francos suíços / cêntimo, cêntimos
    ¥ = iene, ienes
    ct = cêntimo, cêntimos
""")
MONTHS: Final = months(
    "janeiro jan", "fevereiro fev", "março mar", "abril abr", "maio mai", "junho jun",
    "julho jul", "agosto ago", "setembro set", "outubro out", "novembro nov", "dezembro dez",
)  # fmt: skip

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
_WORDS: Final = Words(
    month_names=month_names(MONTHS),
    before_years=r"[Ee]m|[Dd]esde|ano|[Aa]té|[Dd]e",
    abbreviations=_ABBREVIATIONS,
    hour=UNITS["h"],
    second=UNITS["s"],
    and_="e",
    before_minutes="e",
    of=" de ",
    first="primeiro",
)


def portuguese() -> Language:
    """Return Portuguese."""
    numerals = Numerals("pt", ROMANCE, ".", "vírgula", digit_fractions=False)
    rules = European(numerals, _WORDS)
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
        few=below_two,
        months=MONTHS,
        date=rules.date,
        time=rules.time,
        time_words=r"(?: horas?| h)?(?!\w)",
        early=(rules.list_numbers, rules.clock_with_h, rules.raised_ordinals, rules.years),
        late=(rules.abbreviations,),
        spaced=True,
    )
