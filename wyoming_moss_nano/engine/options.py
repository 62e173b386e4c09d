"""How a request is to be spoken."""

from dataclasses import dataclass
from typing import Final

from ..errors import SettingsError
from .generator import DEFAULT_MAX_FRAMES
from .local import SAMPLE_MODES

# What the publisher's runtime is seeded with where nothing else is asked for.
DEFAULT_SEED: Final = 1234


@dataclass(frozen=True)
class SpeechOptions:
    """How to speak one request. Silences in seconds, gain in dB.

    Raises:
        SettingsError: a value is out of range.
    """

    seed: int = DEFAULT_SEED
    sample_mode: str = "fixed"
    max_frames: int = DEFAULT_MAX_FRAMES
    sentence_silence: float = 0.24
    trailing_silence: float = 0.2
    gain_db: float = 0.0
    stereo: bool = False

    def __post_init__(self) -> None:
        if self.sample_mode not in SAMPLE_MODES:
            raise SettingsError(
                f"sample mode must be {', '.join(SAMPLE_MODES)}, not {self.sample_mode!r}"
            )
        for name, lowest, highest in (
            ("seed", 0, 2**63 - 1),
            ("max_frames", 1, 7500),
            ("sentence_silence", 0, 10),
            ("trailing_silence", 0, 10),
            ("gain_db", -60, 40),
        ):
            value = getattr(self, name)
            if not lowest <= value <= highest:
                label = name.replace("_", " ")
                raise SettingsError(f"{label} must be from {lowest} to {highest}, not {value}")
