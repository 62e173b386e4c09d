"""Whose turn it is: many requests, one thread for the language model, one for the codec.

Each step makes one frame of the speech whose listener runs dry first, and of those that do so about
as soon, if the engine can make frames together. At most ``max_streams``
speeches have a slot; the others wait in the order they came. A speech that waits for text, or whose
listener has plenty, holds no slot.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final

from ..errors import MossNanoError, QueueFullError, SpeechError
from .options import SpeechOptions
from .pace import Listener
from .pcm import Pcm
from .prompt import Codes
from .request import Outlet, Speech
from .speech import Engine
from .utterance import Frame, Part, Utterance

_LOGGER = logging.getLogger(__name__)


# Listeners who run dry within so long of each other are served by the same step.
_TOGETHER_SECONDS: Final = 0.5

# A step ends well within; only loading a large model takes longer.
_STOP_SECONDS: Final = 1.5


class Scheduler:
    """Steps the open speeches of one engine on two threads of its own: ``start``, ``stop``.

    Args:
        prepare: what the model needs before the first frame; done on the first thread, while
            requests already wait. If it fails, so does every request.
    """

    def __init__(
        self,
        engine: Engine,
        prepare: Callable[[], None],
        max_streams: int,
        max_queue: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = engine
        self._prepare = prepare
        self._max_streams = max_streams
        self._max_queue = max_queue
        self._clock = clock
        codec = engine.bundle.codec
        self._frame_seconds = codec.downsample_rate / codec.sample_rate
        self._changed = threading.Condition()
        self._speeches: list[Speech] = []
        self._active: list[Speech] = []
        self._left: list[Utterance] = []
        self._failure: MossNanoError | None = None
        self._prepared = threading.Event()
        self._stopping = False
        self._turns = 0
        self._threads = [
            threading.Thread(target=self._make_frames, name="frames", daemon=True),
            threading.Thread(target=self._make_sound, name="sound", daemon=True),
        ]

    def start(self) -> None:
        """Start both threads; speeches may be opened before."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Drop all speeches and end both threads, waiting for the steps that are running."""
        with self._changed:
            self._stopping = True
            self._speeches.clear()
            self._changed.notify_all()
        for thread in filter(threading.Thread.is_alive, self._threads):
            thread.join(_STOP_SECONDS)

    @property
    def stopped(self) -> bool:
        """Whether neither thread is running."""
        return not any(thread.is_alive() for thread in self._threads)

    @property
    def busy(self) -> bool:
        """Whether any speech is open."""
        return bool(self._speeches)

    def wait_prepared(self, seconds: float) -> bool:
        """Wait for so long at most until the model is prepared; return whether it is.

        Raises:
            MossNanoError: preparing it failed.
        """
        prepared = self._prepared.wait(seconds)
        if self._failure is not None:
            raise self._failure
        return prepared

    def open(
        self, reference: Callable[[], Codes], options: SpeechOptions, outlet: Outlet
    ) -> Speech:
        """Open a speech; ``reference`` gives the voice's codes, on a thread of the scheduler."""
        speech = Speech(self, reference, options, outlet, self._clock())
        with self._changed:
            speech.error = self._failure
            self._speeches.append(speech)
            self._changed.notify_all()
        return speech

    def add(self, speech: Speech, pieces: Iterable[Part]) -> None:
        """See Speech.add."""
        with self._changed:
            new = list(pieces)
            if new and not speech.admitted:
                self._admit(speech)
            speech.pieces.extend(new)
            self._changed.notify_all()

    def end(self, speech: Speech) -> None:
        """See Speech.end."""
        with self._changed:
            speech.text_complete = True
            self._changed.notify_all()

    def cancel(self, speech: Speech) -> None:
        """See Speech.cancel."""
        with self._changed:
            self._close(speech)
            self._changed.notify_all()

    def taken(self, speech: Speech, seconds: float) -> None:
        """See Speech.taken."""
        with self._changed:
            speech.taken_seconds += seconds
            self._changed.notify_all()

    def _admit(self, speech: Speech) -> None:
        # a text stream whose writer takes a break is no work
        busy = sum(
            1
            for other in self._speeches
            if other.admitted and (other.text_complete or not other.idle)
        )
        if busy >= self._max_streams + self._max_queue:
            raise QueueFullError(
                f"{busy} requests are being spoken or waiting already; try again in a moment"
            )
        speech.admitted = True

    def _close(self, speech: Speech) -> None:
        speech.closed = True
        speech.inbox.clear()
        speech.pieces.clear()
        if speech in self._speeches:
            self._speeches.remove(speech)
            if speech.utterance is not None:
                self._left.append(speech.utterance)

    def _make_frames(self) -> None:
        try:
            self._prepare()
        except MossNanoError as error:
            _LOGGER.error("The model cannot speak: %s", error)  # noqa: TRY400 - one line
            self._fail_all(error)
            return
        except Exception:  # those who wait must hear of a bug, too
            _LOGGER.exception("Preparing the model failed unexpectedly")
            self._fail_all(SpeechError("the model cannot speak; the log says why"))
            return
        finally:
            self._prepared.set()
        while speeches := self._wait_for(self._next_to_step):
            self._guarded(speeches, self._step)
        self._close_left()

    def _make_sound(self) -> None:
        while speeches := self._wait_for(self._next_to_decode):
            self._guarded(speeches, self._decode)

    def _wait_for(self, choose: Callable[[], list[Speech]]) -> list[Speech]:
        """Return the speeches to work on next, or none when stopping."""
        with self._changed:
            while not self._stopping:
                speeches = choose()
                if speeches:
                    return speeches
                self._changed.wait()
        return []

    def _next_to_step(self) -> list[Speech]:
        active = [speech for speech in self._active if speech.runnable]
        for speech in self._speeches:
            if len(active) >= self._max_streams:
                break
            if speech.runnable and speech not in active:
                active.append(speech)
        self._active = active
        now = self._clock()
        active = sorted(active, key=lambda speech: speech.urgency(now))
        return self._due_together(active, now)

    def _due_together(self, speeches: list[Speech], now: float) -> list[Speech]:
        """Return those of the speeches, most urgent first, that one step serves.

        A speech that has not begun goes alone: its listener waits for the first sound.
        """
        if not speeches or not speeches[0].begun:
            return speeches[:1]
        latest = speeches[0].urgency(now)[0] + _TOGETHER_SECONDS
        due = [speech for speech in speeches if speech.begun and speech.urgency(now)[0] <= latest]
        return due[: self._engine.most_together]

    def _next_to_decode(self) -> list[Speech]:
        now = self._clock()
        decodable = [speech for speech in self._speeches if speech.decodable]
        return sorted(decodable, key=lambda speech: speech.urgency(now))[:1]

    def _guarded(self, speeches: list[Speech], work: Callable[[list[Speech]], None]) -> None:
        """Do one piece of work; whatever goes wrong ends these speeches and no other."""
        try:
            work(speeches)
        except MossNanoError as error:
            self._fail(speeches, error)
        except Exception:  # a bug must not silence the others
            _LOGGER.exception("Speaking failed unexpectedly")
            self._fail(speeches, SpeechError("speaking failed unexpectedly; the log says where"))

    def _fail(self, speeches: list[Speech], error: MossNanoError) -> None:
        with self._changed:
            for speech in speeches:
                # the sound thread tells the outlet, so that nothing comes after the end
                speech.error = error
                speech.stepping = False
            self._changed.notify_all()

    def _fail_all(self, error: MossNanoError) -> None:
        with self._changed:
            self._failure = error
            for speech in self._speeches:
                speech.error = error
            self._changed.notify_all()

    def _step(self, speeches: list[Speech]) -> None:
        self._close_left()
        utterances = [self._utterance(speech) for speech in speeches]
        with self._changed:
            for speech, utterance in zip(speeches, utterances, strict=True):
                # between a frame and its arrival in the inbox the utterance looks idle already
                speech.stepping = True
                self._turns += 1
                speech.last_turn = self._turns
                while speech.pieces:
                    utterance.add(speech.pieces.popleft())
        events = self._engine.step(utterances)
        with self._changed:
            now = self._clock()
            for speech, event in zip(speeches, events, strict=True):
                speech.stepping = False
                if event is not None and not speech.closed:
                    speech.inbox.append(event)
                if isinstance(event, Frame):
                    speech.made(self._frame_seconds, now)
            self._changed.notify_all()

    def _utterance(self, speech: Speech) -> Utterance:
        if speech.utterance is None:
            speech.utterance = self._engine.utter([], speech.reference(), speech.options)
        return speech.utterance

    def _close_left(self) -> None:
        """Close utterances whose speech is over; only this thread may, between two steps."""
        with self._changed:
            left, self._left = self._left, []
        for utterance in left:
            utterance.close()

    def _decode(self, speeches: list[Speech]) -> None:
        (speech,) = speeches
        with self._changed:
            events = list(speech.inbox)
            speech.inbox.clear()
            complete = speech.text_complete and speech.idle
            error = speech.error
        if error is not None:
            self._finish(speech, error)
            return
        if speech.sound is None:
            speech.sound = self._engine.sound(speech.options, Listener(self._clock))
        self._deliver(speech, speech.sound.take(events))
        with self._changed:
            frames = sum(isinstance(event, Frame) for event in events)
            speech.decoded_seconds += frames * self._frame_seconds
            self._changed.notify_all()
        if complete:
            self._deliver(speech, speech.sound.finish())
            self._finish(speech, None)

    def _deliver(self, speech: Speech, pcm: Pcm) -> None:
        if len(pcm) and not speech.closed:
            with self._changed:
                speech.delivered_seconds += len(pcm) / self._engine.bundle.codec.sample_rate
            speech.outlet.pcm(pcm)

    def _finish(self, speech: Speech, error: MossNanoError | None) -> None:
        with self._changed:
            cancelled = speech.closed
            self._close(speech)
        if not cancelled:
            speech.outlet.done(error)
