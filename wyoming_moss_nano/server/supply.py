"""Where the engine comes from: loaded from disk, after fetching the model if it is not there."""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from ..errors import DownloadError, MossNanoError
from .voicebox import Speaker, Voicebox

_LOGGER = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS: Final = 30.0
_LONGEST_PAUSE_SECONDS: Final = 900.0
_STOP_SECONDS: Final = 1.5
_BEAT_SECONDS: Final = 0.2
_HANDOVER_SECONDS: Final = 1.0

# Fetches a model: told where to report per cent, and what is set when it has to stop.
Fetch = Callable[[Callable[[float], None], threading.Event], None]


class Supply(Protocol):
    """Makes a voicebox speak."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End, also in the middle."""

    @property
    def stopped(self) -> bool:
        """Whether no thread of it is running."""


class LocalSupply:
    """A model that is on disk: its speaker waits for requests from the start."""

    def __init__(self, voicebox: Voicebox, speaker: Speaker) -> None:
        # kept by the voicebox alone: who is replaced there leaves memory
        self._voicebox = voicebox
        voicebox.ready(speaker)

    def start(self) -> None:
        """Load the model's graphs in the background."""
        self._voicebox.speaker().scheduler.start()

    def stop(self) -> None:
        """Stop speaking."""
        self._voicebox.stop()

    @property
    def stopped(self) -> bool:
        """Whether no thread of it is running."""
        return self._voicebox.speaker().scheduler.stopped


class FetchingSupply:
    """A model that is fetched first, again and again until that works, while others are told.

    Args:
        load: returns what speaks once the model is on disk.
        pauses: seconds to wait after each failure.
    """

    def __init__(
        self,
        voicebox: Voicebox,
        fetch: Fetch,
        load: Callable[[], Speaker],
        pauses: Callable[[], Iterator[float]] | None = None,
    ) -> None:
        self._voicebox = voicebox
        self._fetch = fetch
        self._load = load
        self._pauses = (pauses or growing_pauses)()
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._run, name="supply", daemon=True)
        self._on_progress(0.0)

    def start(self) -> None:
        """Begin to fetch."""
        self._thread.start()

    def stop(self) -> None:
        """Stop fetching, or speaking."""
        self._cancelled.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)
        self._voicebox.stop()

    @property
    def stopped(self) -> bool:
        """Whether no thread of it is running."""
        try:
            speaking = not self._voicebox.speaker().scheduler.stopped
        except MossNanoError:
            speaking = False
        return not (self._thread.is_alive() or speaking)

    def _run(self) -> None:
        while not self._fetched():
            if self._cancelled.wait(next(self._pauses)):
                return
        if self._cancelled.is_set():
            return
        self._voicebox.wait_for("the model is being loaded; try again in a moment")
        try:
            speaker = self._load()
        except MossNanoError as error:
            _LOGGER.error("The model cannot speak: %s", error)  # noqa: TRY400 - one line
            self._voicebox.wait_for(f"the model cannot speak: {error}")
            return
        speaker.scheduler.start()
        self._voicebox.ready(speaker)
        _LOGGER.info("The model is there and speaks")

    def _fetched(self) -> bool:
        try:
            self._fetch(self._on_progress, self._cancelled)
        except DownloadError as error:
            if not self._cancelled.is_set():
                _LOGGER.warning("Fetching the model failed, and is tried again: %s", error)
                self._voicebox.wait_for(f"fetching the model failed, and is tried again: {error}")
            return False
        return True

    def _on_progress(self, percent: float) -> None:
        self._voicebox.wait_for(
            f"the official model is being fetched, {percent:.0f} % is there; try again later"
        )


class ImprovingSupply:
    """What speaks at first is replaced by something better, once that is there.

    Whoever is being spoken to hears the end from what began it.

    Args:
        first: what makes the voicebox speak.
        improve: makes the better one, or returns None; told when to give up. Runs once there is
            something to improve.
    """

    def __init__(
        self,
        voicebox: Voicebox,
        first: Supply,
        improve: Callable[[threading.Event], Speaker | None],
    ) -> None:
        self._voicebox = voicebox
        self._first = first
        self._improve = improve
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._run, name="improvement", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._first.start()
        self._thread.start()

    def stop(self) -> None:
        """End, also in the middle."""
        self._cancelled.set()
        self._first.stop()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)
        self._voicebox.stop()

    @property
    def stopped(self) -> bool:
        """Whether no thread of it is running."""
        try:
            speaking = not self._voicebox.speaker().scheduler.stopped
        except MossNanoError:
            speaking = False
        return self._first.stopped and not (self._thread.is_alive() or speaking)

    def _run(self) -> None:
        try:
            while not self._voicebox.wait_ready(_BEAT_SECONDS):
                if self._cancelled.is_set():
                    return
            better = self._improve(self._cancelled)
            if better is not None:
                self._replace(better)
        except MossNanoError as error:
            _LOGGER.warning("Speaking on as before: %s", error)
        except Exception:  # what speaks goes on speaking
            _LOGGER.exception("Improving how the model speaks failed unexpectedly")

    def _replace(self, better: Speaker) -> None:
        old = self._voicebox.speaker()
        better.scheduler.start()
        try:
            while not better.scheduler.wait_prepared(_BEAT_SECONDS):
                if self._cancelled.is_set():
                    better.scheduler.stop()
                    return
        except MossNanoError:
            better.scheduler.stop()
            raise
        self._voicebox.ready(better)
        _LOGGER.info("Speaking with precision %s from now on", better.engine.precision)
        # a request that has just taken the old one opens its speech within a moment
        while not self._cancelled.wait(_HANDOVER_SECONDS):
            if not old.scheduler.busy:
                break
        old.scheduler.stop()


def growing_pauses() -> Iterator[float]:
    """Yield seconds to wait after each failure, each twice the one before, up to a quarter hour."""
    pause = _FIRST_PAUSE_SECONDS
    while True:
        yield pause
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
