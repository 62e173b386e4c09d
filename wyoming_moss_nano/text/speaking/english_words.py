"""English words: units, money, months, abbreviations, and which capitals are spelled."""

from typing import Final

from .language import Currency, Noun, months, nouns

UNITS: Final = nouns("""
    W = watt, watts
    kW = kilowatt, kilowatts
    MW = megawatt, megawatts
    GW = gigawatt, gigawatts
    mW = milliwatt, milliwatts
    Wh = watt hour, watt hours
    kWh = kilowatt hour, kilowatt hours
    MWh = megawatt hour, megawatt hours
    VA = volt-ampere, volt-amperes
    kVA = kilovolt-ampere, kilovolt-amperes
    V = volt, volts
    mV = millivolt, millivolts
    kV = kilovolt, kilovolts
    A = amp, amps
    mA = milliamp, milliamps
    Ah = amp hour, amp hours
    mAh = milliamp hour, milliamp hours
    Ω = ohm, ohms
    kΩ = kiloohm, kiloohms
    J = joule, joules
    kJ = kilojoule, kilojoules
    kcal = kilocalorie, kilocalories
    Hz = hertz
    kHz = kilohertz
    MHz = megahertz
    GHz = gigahertz
    Pa = pascal, pascals
    hPa = hectopascal, hectopascals
    kPa = kilopascal, kilopascals
    bar = bar, bars
    mbar = millibar, millibars
    psi = pound per square inch, pounds per square inch
    inHg = inch of mercury, inches of mercury
    mmHg = millimeter of mercury, millimeters of mercury
    μm um = micrometer, micrometers
    mm = millimeter, millimeters
    cm = centimeter, centimeters
    m = meter, meters
    km = kilometer, kilometers
    ft = foot, feet
    yd = yard, yards
    mi = mile, miles
    m² m2 = square meter, square meters
    cm² = square centimeter, square centimeters
    km² = square kilometer, square kilometers
    ft² sqft = square foot, square feet
    ha = hectare, hectares
    m³ m3 = cubic meter, cubic meters
    ft³ = cubic foot, cubic feet
    L l = liter, liters
    mL ml = milliliter, milliliters
    gal = gallon, gallons
    mph = mile per hour, miles per hour
    km/h kmh kph = kilometer per hour, kilometers per hour
    m/s = meter per second, meters per second
    ft/s = foot per second, feet per second
    mm/h = millimeter per hour, millimeters per hour
    in/h = inch per hour, inches per hour
    mm/d = millimeter per day, millimeters per day
    L/min = liter per minute, liters per minute
    m³/h = cubic meter per hour, cubic meters per hour
    kn kt kts = knot, knots
    μg = microgram, micrograms
    mg = milligram, milligrams
    g = gram, grams
    kg = kilogram, kilograms
    lb lbs = pound, pounds
    tbsp = tablespoon, tablespoons
    tsp = teaspoon, teaspoons
    oz = ounce, ounces
    μg/m³ μg/m3 ug/m³ ug/m3 = microgram per cubic meter, micrograms per cubic meter
    mg/m³ mg/m3 = milligram per cubic meter, milligrams per cubic meter
    ‰ = per mille
    ppm = part per million, parts per million
    ppb = part per billion, parts per billion
    lx lux = lux
    lm = lumen, lumens
    W/m² W/m2 = watt per square meter, watts per square meter
    μS/cm = microsiemens per centimeter
    dB = decibel, decibels
    dBA dB(A) = A-weighted decibel, A-weighted decibels
    dBm = decibel milliwatt, decibel milliwatts
    B = byte, bytes
    kB KB = kilobyte, kilobytes
    MB = megabyte, megabytes
    GB = gigabyte, gigabytes
    TB = terabyte, terabytes
    KiB = kibibyte, kibibytes
    MiB = mebibyte, mebibytes
    GiB = gibibyte, gibibytes
    TiB = tebibyte, tebibytes
    kB/s KB/s = kilobyte per second, kilobytes per second
    MB/s = megabyte per second, megabytes per second
    GB/s = gigabyte per second, gigabytes per second
    MiB/s = mebibyte per second, mebibytes per second
    kbit/s kbps = kilobit per second, kilobits per second
    Mbit/s Mbps Mb/s = megabit per second, megabits per second
    Gbit/s Gbps = gigabit per second, gigabits per second
    rpm RPM = revolution per minute, revolutions per minute
    bpm BPM = beat per minute, beats per minute
    fps FPS = frame per second, frames per second
    px = pixel, pixels
    K = kelvin, kelvins
    °C = degree Celsius, degrees Celsius
    °F = degree Fahrenheit, degrees Fahrenheit
    ° = degree, degrees
    μs us = microsecond, microseconds
    ms = millisecond, milliseconds
    s sec secs seconds = second, seconds
    min mins minutes = minute, minutes
    h hr hrs hours = hour, hours
    d day days = day, days
    wk wks = week, weeks
    yr yrs = year, years
    mo mos = month, months
""")

# These are units even without a number before them.
UNITS_ALONE: Final = tuple(
    "kWh MWh Wh kW km/h m/s mph °C °F hPa kPa μg/m³ μg/m3 ppm ppb m³ m² dB GB MB TB MB/s Mbit/s "
    "Mbps GHz MHz kHz Hz mm cm km kg lx W/m²".split()
)

_DOLLAR = Currency(Noun("dollar", "dollars"), Noun("cent", "cents"))
_EURO = Currency(Noun("euro", "euros"), Noun("cent", "cents"))
_POUND = Currency(Noun("pound", "pounds"), Noun("penny", "pence"))
CURRENCIES: Final = {
    "$": _DOLLAR,
    "US$": _DOLLAR,
    "USD": _DOLLAR,
    "€": _EURO,
    "EUR": _EURO,
    "£": _POUND,
    "GBP": _POUND,
    "¥": Currency(Noun("yen", "yen")),
    "JPY": Currency(Noun("yen", "yen")),
    "CHF": Currency(Noun("Swiss franc", "Swiss francs"), Noun("centime", "centimes")),
    "₹": Currency(Noun("rupee", "rupees"), Noun("paisa", "paise")),
    "¢": Currency(Noun("cent", "cents")),
    "ct": Currency(Noun("cent", "cents")),
}

MONTH_NAMES: Final = (
    "January February March April May June July August September October November December".split()
)
MONTHS: Final = months(
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "may",
    "june jun",
    "july jul",
    "august aug",
    "september sept sep",
    "october oct",
    "november nov",
    "december dec",
)

# The full stop goes with the abbreviation. Words with a capital here need one in the text.
ABBREVIATIONS: Final = {
    "Dr.": "Doctor",
    "Mr.": "Mister",
    "Mrs.": "Missus",
    "Ms.": "Miz",
    "Prof.": "Professor",
    "Rev.": "Reverend",
    "Gen.": "General",
    "Sgt.": "Sergeant",
    "Capt.": "Captain",
    "Lt.": "Lieutenant",
    "Jr.": "Junior",
    "Sr.": "Senior",
    "Mt.": "Mount",
    "Ave.": "Avenue",
    "Rd.": "Road",
    "Blvd.": "Boulevard",
    "Dept.": "Department",
    "Inc.": "Incorporated",
    "Ltd.": "Limited",
    "Corp.": "Corporation",
    "Co.": "Company",
    "approx.": "approximately",
    "e.g.": "for example",
    "i.e.": "that is",
    "vs.": "versus",
    "vs": "versus",
    "etc.": "et cetera",
    "viz.": "namely",
    "cf.": "compare",
    "est.": "estimated",
    "max.": "maximum",
    "min.": "minimum",
    "avg.": "average",
    "temp.": "temperature",
    "incl.": "including",
    "excl.": "excluding",
    "w/o": "without",
    "w/": "with",
    "Mon.": "Monday",
    "Tue.": "Tuesday",
    "Tues.": "Tuesday",
    "Wed.": "Wednesday",
    "Thu.": "Thursday",
    "Thurs.": "Thursday",
    "Fri.": "Friday",
    "Sat.": "Saturday",
    "Sun.": "Sunday",
    "Jan.": "January",
    "Feb.": "February",
    "Mar.": "March",
    "Apr.": "April",
    "Jun.": "June",
    "Jul.": "July",
    "Aug.": "August",
    "Sep.": "September",
    "Sept.": "September",
    "Oct.": "October",
    "Nov.": "November",
    "Dec.": "December",
}
WEEKDAYS: Final = {
    "Mon": "Monday",
    "Tue": "Tuesday",
    "Wed": "Wednesday",
    "Thu": "Thursday",
    "Fri": "Friday",
    "Sat": "Saturday",
    "Sun": "Sunday",
}

# Capitals that are said letter by letter though they have a vowel; without one they always are.
SPELLED: Final = frozenset(
    "AC AI API AV AQI ATM BBQ CEO CIA CPU DIY DVI EDT ESP EST ETA EU EV EVSE FAQ FYI GPIO GPU "
    "GUI HDMI HVAC ID IEEE IOS IOT IP IR ISO ISP KPI LED MAC NBA OEM OS OTA PIR POE PSU PTO "
    "RSSI SSID SUV TTS UHF UI UK UN UPNP UPS URI URL US USA USB UTC UV VAT VIP VOC".split()
)
# Capitals without a vowel that are no letters.
READ: Final = frozenset(
    "MR MRS DR ST VS HMM PFFT SHH PSST GRR NTH MY BY WHY TRY DRY SKY FLY".split()
)

# Before these words a Roman numeral counts; I alone is a number only behind them.
CHAPTERS: Final = (
    "Chapter Part Volume Vol Act Section Phase Type Class Level Episode Book Season Stage Title "
    "Article Appendix Grade Tier Bowl War Mark Final Fantasy Rocky Apollo Gemini".split()
)
RULERS: Final = (
    "Henry Louis Charles Elizabeth George Edward William James Richard John Paul Pius Benedict "
    "Francis Gregory Leo Philip Ferdinand Frederick Catherine Mary Napoleon Nicholas Alexander "
    "Ivan Peter Alfonso Carlos Juan Felipe Ramses Xerxes Darius Otto Wilhelm Friedrich".split()
)

FRACTIONS: Final = {2: ("half", "halves"), 3: ("third", "thirds"), 4: ("quarter", "quarters")} | {
    8: ("eighth", "eighths"),
    16: ("sixteenth", "sixteenths"),
}

SIGNS_LEFT: Final = {
    "&": "and",
    "@": "at",
    "%": "percent",
    "°": "degrees",
    "$": "dollars",
    "€": "euros",
    "£": "pounds",
    "=": "equals",
    "≠": "is not",
    "≈": "about",
    "~": "about",
    "±": "plus or minus",
    "≥": "at least",
    "≤": "at most",
    "<": "less than",
    ">": "greater than",
    "×": "times",
    "÷": "divided by",
    "→": "to",
    "⇒": "to",
    "←": "from",
    "↑": "up",
    "↓": "down",
    "§": "section",
    "+": "plus",
    "√": "square root of",
    "∞": "infinity",
    "π": "pi",
    "²": "squared",
    "³": "cubed",
}
