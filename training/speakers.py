"""The teachers: voices of the synthesizer in many pitches, rates and volumes."""

import random
from dataclasses import dataclass
from typing import Final

# variant, lowest and highest pitch setting, share
VARIANTS: Final = (
    ("en-us", 20, 62, 7),
    ("en-us+m2", 25, 65, 2),
    ("en-us+m3", 25, 70, 5),
    ("en-us+m4", 25, 65, 1),
    ("en-us+m5", 25, 65, 1),
    ("en-us+m6", 25, 65, 1),
    ("en-us+m7", 25, 65, 3),
    ("en-us+f1", 25, 60, 1),
    ("en-us+f2", 20, 60, 4),
    ("en-us+f3", 20, 60, 2),
    ("en-us+f5", 20, 60, 4),
)
UNSEEN_VARIANTS: Final = ("en-us+m1", "en-us+f4")  # never trained on
RATES: Final = (138, 168)  # words a minute
VOLUMES: Final = (-7.0, 0.0)  # dB


@dataclass(frozen=True)
class Speaker:
    """A voice setting of the synthesizer.

    ``pitch`` is the synthesizer's own scale from 0 to 99, ``rate`` words a minute, ``volume`` dB.
    """

    variant: str
    pitch: int
    rate: int = 150
    volume: float = 0.0


def training_speaker(number: int) -> Speaker:
    """Return the speaker of a number; the same number is always the same speaker."""
    chance = random.Random(1000 + number)
    shares = [share for *_, share in VARIANTS]
    variant, low, high, _ = chance.choices(VARIANTS, shares)[0]
    pitch, rate = chance.randint(low, high), chance.randint(*RATES)
    return Speaker(variant, pitch, rate, chance.uniform(*VOLUMES))
