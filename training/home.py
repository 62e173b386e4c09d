"""What a home says: a small grammar of announcements, answers and questions."""

import random
from collections.abc import Callable
from typing import Final

from .numerals import in_words


def _listed(text: str) -> tuple[str, ...]:
    return tuple(entry.strip() for entry in text.split(","))


ROOMS: Final = _listed(
    "kitchen, living room, bedroom, bathroom, hallway, garage, office, dining room, guest room, "
    "basement, attic, nursery, garden, porch, patio, laundry room, entrance, balcony, study, "
    "playroom, den, front yard, back yard, closet, pantry, workshop, driveway, staircase, library, "
    "sun room, cellar, terrace, first floor, second floor, house, greenhouse, shed, lobby"
)
DEVICES: Final = _listed(
    "lights, light, lamp, ceiling light, fan, heater, thermostat, blinds, curtains, shades, door, "
    "window, front door, back door, garage door, television, speaker, radio, camera, alarm, "
    "sprinkler, air conditioner, humidifier, vacuum, dishwasher, washing machine, dryer, oven, "
    "coffee maker, doorbell, lock, smart plug, outlet, switch, motion sensor, smoke detector, "
    "water heater, pool pump, gate, air purifier, night light, desk lamp, fireplace, freezer, "
    "fridge, kettle, toaster, projector, router, printer, radiator, charger, microwave, valve, "
    "sensor, battery, siren, irrigation, music, boiler, stove, skylight, mailbox, hose, sauna"
)
STATES: Final = _listed(
    "on, off, open, closed, locked, unlocked, running, finished, paused, offline, online, "
    "unavailable, ready, active, low, high, warm, cold, hot, dry, wet, dark, bright, armed, "
    "disarmed, charging, full, empty, idle, broken, clean, dirty, stuck, quiet, disconnected, "
    "connected, not responding, leaking, blocked, empty again, still on, too loud"
)
COLOURS: Final = _listed("red, green, blue, white, yellow, orange, purple, pink, warm white, gold")
DAYS: Final = _listed("monday, tuesday, wednesday, thursday, friday, saturday, sunday")
MONTHS: Final = _listed(
    "january, february, march, april, may, june, july, august, september, october, november, "
    "december"
)
ORDINALS: Final = _listed(
    "first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh, "
    "twelfth, fifteenth, twentieth, twenty first, thirtieth"
)
WEATHER: Final = _listed(
    "sunny, cloudy, rainy, windy, snowy, foggy, partly cloudy, mostly clear, stormy, humid, "
    "overcast, clear, cool, mild, freezing, light rain, heavy rain, thunderstorms, strong winds"
)
PEOPLE: Final = _listed(
    "mom, dad, anna, john, sarah, michael, emma, david, lisa, peter, grandma, grandpa, alex, "
    "maria, james, kate, the mailman, someone, a visitor, the neighbor, paul, laura, tom, julia, "
    "robert, daniel, emily, thomas, jennifer, doctor miller, mister smith, your brother, nobody"
)
ITEMS: Final = _listed(
    "milk, eggs, bread, butter, cheese, apples, coffee, tea, sugar, flour, rice, pasta, chicken, "
    "bananas, tomatoes, potatoes, onions, soap, paper towels, batteries, light bulbs, dog food, "
    "orange juice, yogurt, salt, pepper, olive oil, water, cereal, yeast, pears, coffee filters"
)
CHORES: Final = _listed(
    "call the doctor, take out the trash, water the plants, feed the cat, feed the dog, "
    "pick up the kids, pay the bills, check the mail, start the laundry, empty the dishwasher, "
    "take your medicine, buy some groceries, clean the house, charge the phone, lock the door, "
    "close the windows, walk the dog, call your mother, finish the report, go to bed, cook dinner, "
    "book the flight, return the book, send the letter, bring your passport"
)
HAZARDS: Final = _listed("smoke, water, gas, carbon monoxide, a water leak, movement, motion")
VERBS: Final = _listed("open, close, lock, unlock, start, stop, check, clean, reset, lower")
ONGOING: Final = _listed(
    "opening, closing, starting, stopping, locking, unlocking, checking, dimming, lowering"
)
ANSWERS: Final = _listed(
    "ok, okay, yes, no, yes please, no thanks, good night, good evening, good afternoon, sure, "
    "done, all done, of course, not now, maybe later, i am sorry, thank you, thanks a lot, "
    "you are welcome, hello, hi there, goodbye, bye, see you later, see you soon, all right, "
    "no idea, right away, one moment, just a second, please wait, stop, go on, again, never mind, "
    "perhaps, exactly, really, what, why not, who is it, when, where, how come, i see, got it, "
    "not found, please try again, nothing to do, it worked, that is right, that is wrong, wait, "
    "on, off, help, ready, good, great, fine, welcome home, sleep well, happy birthday, cancelled"
)

Template = Callable[[random.Random], str]


def clock_time(chance: random.Random) -> str:
    """Return a time of day in words."""
    hour = in_words(chance.randint(1, 12))
    minute = chance.randint(1, 59)
    spoken = f"oh {in_words(minute)}" if minute < 10 else in_words(minute)
    return chance.choice(
        [
            f"{hour} o'clock",
            f"{hour} thirty",
            f"{hour} fifteen",
            f"{hour} {spoken}",
            f"{hour} a m",
            f"{hour} p m",
            f"half past {hour}",
            "noon",
            "midnight",
            f"quarter to {hour}",
            f"{hour}",
        ]
    )


def date(chance: random.Random) -> str:
    """Return a date in words."""
    month = chance.choice(MONTHS)
    if chance.random() < 0.5:
        return f"{chance.choice(DAYS)}, {month} {in_words(chance.randint(1, 31))}"
    return f"{chance.choice(DAYS)}, the {chance.choice(ORDINALS)} of {month}"


# Each field of a template is drawn anew wherever it stands.
FIELDS: Final[dict[str, Template]] = {
    "room": lambda chance: chance.choice(ROOMS),
    "device": lambda chance: chance.choice(DEVICES),
    "state": lambda chance: chance.choice(STATES),
    "onoff": lambda chance: chance.choice(("on", "off")),
    "colour": lambda chance: chance.choice(COLOURS),
    "weather": lambda chance: chance.choice(WEATHER),
    "person": lambda chance: chance.choice(PEOPLE),
    "item": lambda chance: chance.choice(ITEMS),
    "chore": lambda chance: chance.choice(CHORES),
    "hazard": lambda chance: chance.choice(HAZARDS),
    "verb": lambda chance: chance.choice(VERBS),
    "ongoing": lambda chance: chance.choice(ONGOING),
    "day": lambda chance: chance.choice(DAYS),
    "date": date,
    "time": clock_time,
    "small": lambda chance: in_words(chance.randint(1, 20)),
    "number": lambda chance: in_words(chance.randint(1, 100)),
    "large": lambda chance: in_words(chance.randint(100, 9999)),
    "degrees": lambda chance: in_words(chance.randint(1, 110)),
    "span": lambda chance: chance.choice(("minutes", "seconds", "hours", "days")),
    "part": lambda chance: chance.choice(("morning", "afternoon", "evening", "night")),
    "tense": lambda chance: chance.choice(("is", "was", "is still", "has been", "will be")),
    "thing": lambda chance: chance.choice(("timer", "alarm", "reminder", "meeting", "flight")),
    "carrier": lambda chance: chance.choice(("bus", "train", "flight", "package", "delivery")),
    "whereabouts": lambda chance: chance.choice(("home", "at work", "at school", "away", "here")),
    "unit": lambda chance: chance.choice(("percent", "degrees", "dollars", "pounds", "miles")),
}
TEMPLATES: Final = """
turn {onoff} the {room} {device}
turning {onoff} the {device} in the {room}
okay, turning {onoff} the {room} {device}
i turned {onoff} the {room} {device}
i turned {onoff} the {device} because the {room} is {state}
the {room} {device} is {state}
the {device} is {state}
the {room} {device} is now {state}
the {device} in the {room} {tense} {state}
the {device} {tense} {state} for {small} {span}
set the {room} {device} to {number} percent
the {room} {device} is set to {number} {unit}
the temperature in the {room} is {degrees} degrees
it is {degrees} degrees and {weather} outside
the humidity in the {room} is {number} percent
it is {time}
the time is {time}
today is {date}
it is {date}, and it is {weather}
tomorrow will be {weather} with a high of {degrees} degrees
the {part} will be {weather}, with {weather} on {day}
your {thing} is set for {time}
your {thing} on {day} is at {time}
your {small} minute timer is done
timer set for {number} {span}
there is {person} at the front door
{person} is waiting in the {room}
{hazard} detected in the {room}
warning, {hazard} was detected in the {room}
i added {item} to your shopping list
i added {item}, {item} and {item} to the list
we need {item} and {item} from the store
good {part}, {person}
sorry, i did not understand that
sorry, i could not find the {room} {device}
i could not reach the {room} {device}
the {device} battery is at {number} percent
would you like me to turn {onoff} the {device}?
do you want to {verb} the {room} {device}?
should i {verb} the {device} in the {room}?
is the {device} in the {room} {state}?
who left the {room} {device} {state}?
when should i {verb} the {device}?
why is the {device} {state}?
what is the temperature in the {room}?
how long will the {device} be {state}?
where is {person}?
{ongoing} the {room} {device}
please {verb} the {room} {device}
changing the {room} lights to {colour}
remember to {chore} at {time}
remember to {chore} and to {chore}
it is time to {chore}
do not forget to {chore} on {day}
{person} is {whereabouts}
{person} and {person} will be {whereabouts} at {time}
you have {small} new messages from {person}
playing music in the {room}
energy use today is {number} kilowatt hours
the {carrier} will arrive at {time}
the {carrier} is delayed by {number} minutes
all {device} in the {room} are {state}
the {room} is {state}
the {device} stopped because the {device} is {state}
if the {device} is {state}, please {verb} the {room} {device}
the {room} {device} is {state}, and the {device} is {state}
the {device} is {state}, but the {room} {device} is {state}
{number} {unit}
{large} {unit}
it costs {large} dollars
about {large} people live there
the number is {small} {small} {small}
{number} plus {number} is {number}
the {room} is {number} feet from the {room}
{person} called {small} times
""".strip().splitlines()


def home_sentence(chance: random.Random) -> str:
    """Return a sentence of the grammar, without its full stop."""
    pieces = chance.choice(TEMPLATES).split("{")
    built = [pieces[0]]
    for piece in pieces[1:]:
        field, rest = piece.split("}")
        built.append(FIELDS[field](chance) + rest)
    return "".join(built)


def short_answer(chance: random.Random) -> str:
    """Return what is said in a word or two, without its full stop."""
    return chance.choice(ANSWERS)
