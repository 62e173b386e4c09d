"""One request among others: what was said and made of it, and how urgent the next frame is."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, Protocol

from ..errors import MossNanoError
from .options import SpeechOptions
from .pcm import Pcm
from .prompt import Codes
from .utterance import Event, Part, Utterance

if TYPE_CHECKING:
    from .sound import UtteranceSound

# How far a speech may run ahead of what its listener has taken. It bounds the memory of a listener
# who stops reading: 48 kHz mono is 96 kB a second.
MOST_SECONDS_AHEAD: Final = 10.0


class Outlet(Protocol):
    """Where the sound of one speech goes. Called from the scheduler's threads; may not wait."""

    def pcm(self, pcm: Pcm) -> None:
        """Take the next PCM int16 [samples, channels]."""

    def done(self, error: MossNanoError | None) -> None:
        """Note that nothing more comes, and why if it ended early."""


class Turns(Protocol):
    """Whoever gives requests their turns: what a request says of itself goes there."""

    def add(self, speech: "Speech", pieces: Iterable[Part]) -> None:
        """See Speech.add."""

    def end(self, speech: "Speech") -> None:
        """See Speech.end."""

    def cancel(self, speech: "Speech") -> None:
        """See Speech.cancel."""

    def taken(self, speech: "Speech", seconds: float) -> None:
        """See Speech.taken."""


class Speech:
    """One request: text goes in by ``add`` and ``end``, sound comes out at its outlet."""

    def __init__(
        self,
        scheduler: Turns,
        reference: Callable[[], Codes],
        options: SpeechOptions,
        outlet: Outlet,
        now: float,
    ) -> None:
        self._scheduler = scheduler
        self.reference = reference
        self.options = options
        self.outlet = outlet
        self.pieces: deque[Part] = deque()
        self.inbox: deque[Event] = deque()
        self.utterance: Utterance | None = None
        self.sound: UtteranceSound | None = None
        self.error: MossNanoError | None = None
        self.admitted = False
        self.stepping = False
        self.text_complete = False
        self.closed = False
        self.made_seconds = 0.0
        self.decoded_seconds = 0.0
        self.delivered_seconds = 0.0
        self.taken_seconds = 0.0
        self.runs_dry_at = now
        self.last_turn = 0

    def add(self, pieces: Iterable[Part]) -> None:
        """Add token ids of more pieces, or silence.

        Raises:
            QueueFullError: the first pieces came while too many requests were waiting.
        """
        self._scheduler.add(self, pieces)

    def end(self) -> None:
        """Note that the text is complete."""
        self._scheduler.end(self)

    def cancel(self) -> None:
        """Stop at the next frame; the outlet hears nothing more."""
        self._scheduler.cancel(self)

    def taken(self, seconds: float) -> None:
        """Note that the listener took so much sound."""
        self._scheduler.taken(self, seconds)

    @property
    def idle(self) -> bool:
        """Whether everything added so far has been made."""
        if self.stepping or self.pieces:
            return False
        return self.utterance is None or self.utterance.idle

    @property
    def begun(self) -> bool:
        """Whether a frame has been made."""
        return self.made_seconds > 0

    @property
    def seconds_ahead(self) -> float:
        """Sound that was made and not taken yet.

        What the codec's side shortens or adds is counted as it left, or a speech with much dead air
        would seem to be ahead for ever.
        """
        undecoded = self.made_seconds - self.decoded_seconds
        if self.sound is not None:
            undecoded += self.sound.waiting_seconds
        return undecoded + self.delivered_seconds - self.taken_seconds

    @property
    def runnable(self) -> bool:
        """Whether a frame can and should be made now."""
        if self.idle or self.closed or self.error is not None:
            return False
        return self.seconds_ahead < MOST_SECONDS_AHEAD

    @property
    def decodable(self) -> bool:
        """Whether the codec thread has something to do."""
        return not self.closed and bool(
            self.inbox or self.error or (self.text_complete and self.idle)
        )

    def urgency(self, now: float) -> tuple[float, int]:
        """Return what sorts speeches: when the listener runs dry, then whose turn is longest ago.

        A listener who has run dry waits since now, not since then: what was missed is missed, and
        making up for it would cost others.
        """
        return max(self.runs_dry_at, now), self.last_turn

    def made(self, seconds: float, now: float) -> None:
        """Note that so much sound was made."""
        self.made_seconds += seconds
        self.runs_dry_at = max(self.runs_dry_at, now) + seconds
