"""Speaking: an utterance that makes one frame per step, and the engine that opens utterances.

An utterance is resumable and owns all its state, so several can be open at once and be stepped in
any order. Frames flow one way, from the utterance to its sound.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from ..errors import SettingsError, SpeechError
from ..model.bundle import Bundle
from ..model.compiled import Compiled
from ..model.sessions import Sessions
from ..model.tokenizer import TextTokenizer
from ..text.piece import Piece
from ..text.reading import Reading
from ..text.split import is_speakable
from ..text.stream import PieceStream
from .codec import Codec, StreamingDecoder
from .generator import DEFAULT_MAX_FRAMES, Ending, Generator, OpenPiece
from .language import LanguageModel, compiled_language, exact_language
from .local import SAMPLE_MODES
from .pcm import DeadAir, Limiter, Pcm, mono, silence, to_pcm
from .prompt import Codes
from .sampling import FloatArray, RandomStream

_LOGGER = logging.getLogger(__name__)

# What the publisher's runtime is seeded with where nothing else is asked for.
DEFAULT_SEED: Final = 1234

NOTHING_SPEAKABLE_SECONDS: Final = 0.1

# Groups of eight cost 5 % less per frame and 20 MB more memory (bundle of the official size).
MOST_FRAMES_AT_ONCE: Final = 4


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


@dataclass(frozen=True)
class Frame:
    """One frame was made: codes int32 [codebooks], 80 ms of sound."""

    codes: Codes


@dataclass(frozen=True)
class PieceEnd:
    """A piece of the text is complete, for the reason given."""

    ending: Ending


@dataclass(frozen=True)
class Pause:
    """The text asks for silence here, in place of the one between any two pieces."""

    seconds: float


# What an utterance is made of: token ids of a piece, or silence; and what comes of it.
Part = list[int] | Pause
Event = Frame | PieceEnd | Pause


class Utterance:
    """The frames of one request, from pieces that may still be arriving; ``close`` it at the end.

    Args:
        reference: codes int32 [frames, codebooks] of the voice.
    """

    def __init__(self, generator: Generator[Any], reference: Codes, options: SpeechOptions) -> None:
        self._generator = generator
        self._reference = reference
        self._options = options
        # one random stream for the whole request, as the publisher's runtime has it
        self._stream = RandomStream(options.seed)
        self._pieces: deque[Part] = deque()
        self._piece: OpenPiece[Any] | None = None

    def add(self, piece: Part) -> None:
        """Add token ids of the next piece of the text, or silence; from any thread."""
        self._pieces.append(piece)

    @property
    def idle(self) -> bool:
        """Whether every piece so far is complete."""
        return self._piece is None and not self._pieces

    def step(self) -> Event | None:
        """Make one frame, or find that the piece is complete or silence due; None while idle.

        Raises:
            SpeechError: the model gave numbers that are none.
        """
        return step_together([self])[0]

    def due(self) -> OpenPiece[Any] | Pause | None:
        """Return the piece whose turn it is, silence that comes before it, or None while idle.

        Raises:
            SpeechError: the piece is longer than the model takes.
        """
        if self._piece is None and self._pieces:
            part = self._pieces.popleft()
            if isinstance(part, Pause):
                return part
            self._piece = self._generator.open(
                self._reference,
                part,
                sample_mode=self._options.sample_mode,
                stream=self._stream,
                max_frames=self._options.max_frames,
            )
        return self._piece

    def note(self, codes: Codes | None) -> Frame | PieceEnd:
        """Note the next frame of the current piece, or that there is none."""
        if codes is not None:
            return Frame(codes)
        ending = Ending.STOPPED
        if self._piece is not None:
            ending = self._piece.ending or ending
            if self._piece.frames == 0:
                _LOGGER.warning("The model made no sound for a piece of the text")
        self._close_piece()
        return PieceEnd(ending)

    def next_frames(self, pieces: Sequence[OpenPiece[Any]]) -> list[Codes | None]:
        """Make one frame of each of several pieces, this utterance's among them."""
        return self._generator.next_frames(pieces)

    def close(self) -> None:
        """Give up what is left to speak."""
        self._pieces.clear()
        self._close_piece()

    def _close_piece(self) -> None:
        if self._piece is not None:
            self._generator.close(self._piece)
            self._piece = None


def step_together(utterances: Sequence[Utterance]) -> list[Event | None]:
    """Make one frame of each of several utterances of one engine, as ``Utterance.step`` does.

    Raises:
        SpeechError: the model gave numbers that are none.
    """
    due = [utterance.due() for utterance in utterances]
    pieces = [part for part in due if isinstance(part, OpenPiece)]
    frames = iter(utterances[0].next_frames(pieces) if pieces else [])
    return [
        utterance.note(next(frames)) if isinstance(part, OpenPiece) else part
        for utterance, part in zip(utterances, due, strict=True)
    ]


class Pace(Protocol):
    """Says how many frames to decode at once: few to be early, many to be cheap."""

    def frames_due(self) -> int:
        """Return the number of frames the next codec call takes."""

    def sent(self, seconds: float) -> None:
        """Note sound that went to the listener."""


class Listener:
    """The pace of somebody who listens: the further playback lags behind, the larger the groups.

    The thresholds are those of the publisher's streaming runtime.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started: float | None = None
        self._sent_seconds = 0.0

    def frames_due(self) -> int:
        """Return 1, 2 or 4."""
        if self._started is None:
            return 1
        lead = self._sent_seconds - (self._clock() - self._started)
        steps = ((0.2, 1), (0.55, 2))
        return next((frames for below, frames in steps if lead < below), MOST_FRAMES_AT_ONCE)

    def sent(self, seconds: float) -> None:
        """Note sound; playback starts with the first of it."""
        if self._started is None:
            self._started = self._clock()
        self._sent_seconds += seconds


class Recorder:
    """The pace of a file, which nobody waits for: always the cheapest groups."""

    def frames_due(self) -> int:
        """Return the most there can be."""
        return MOST_FRAMES_AT_ONCE

    def sent(self, seconds: float) -> None:
        """Note nothing."""


class UtteranceSound:
    """Turns what an utterance makes into PCM int16 [samples, channels], in order."""

    def __init__(self, bundle: Bundle, codec: Codec, options: SpeechOptions, pace: Pace) -> None:
        self._codec = codec
        self._rate = bundle.codec.sample_rate
        self._frame_seconds = bundle.codec.downsample_rate / bundle.codec.sample_rate
        self._channels = bundle.codec.channels if options.stereo else 1
        self._options = options
        self._pace = pace
        self._limiter = Limiter(self._rate, options.gain_db)
        self._waiting: list[Codes] = []
        self._decoder: StreamingDecoder | None = None
        self._new_piece = True
        self._dead_air = DeadAir(self._rate)
        self._pause_due = 0.0  # seconds
        self._paused = False  # by the text
        self._pieces = 0
        self._audible = False
        self._samples = 0

    def take(self, events: Sequence[Event]) -> Pcm:
        """Return the PCM that became due by what an utterance made, often none.

        Several events at once are frames that waited; they are decoded together.

        Raises:
            SpeechError: the codec gave numbers that are none.
        """
        sounds: list[FloatArray] = []
        for event in events:
            if isinstance(event, Frame):
                self._waiting.append(event.codes)
                if len(self._waiting) == MOST_FRAMES_AT_ONCE:
                    sounds += self._decode_waiting()
            elif isinstance(event, PieceEnd):
                sounds += self._decode_waiting()
                self._end_piece()
            else:
                self._pause(event)
        if len(self._waiting) >= self._pace.frames_due():
            sounds += self._decode_waiting()
        return self._pcm(sounds)

    def finish(self) -> Pcm:
        """Return the last PCM: what the limiter holds and the silence at the end.

        Raises:
            SpeechError: there was text to speak, but all of it came out empty or as zeros.
        """
        if self._pieces == 0:
            seconds = max(NOTHING_SPEAKABLE_SECONDS, self._pause_due)
            return self._count(to_pcm(silence(seconds, self._rate, self._channels)))
        if not self._audible:
            raise SpeechError(
                "the model made no sound for this text; try another seed, voice or wording"
            )
        rest = self._limiter.rest()
        seconds = self._options.trailing_silence + (self._pause_due if self._paused else 0.0)
        end = silence(seconds, self._rate, self._channels)
        pcm = self._count(to_pcm(np.concatenate([*([] if rest is None else [rest]), end], axis=1)))
        if self._limiter.clipped:
            _LOGGER.info("%d samples were limited to full scale", self._limiter.clipped)
        return pcm

    @property
    def waiting_seconds(self) -> float:
        """Length of the frames that wait for a group to be full."""
        return len(self._waiting) * self._frame_seconds

    @property
    def seconds(self) -> float:
        """Length of the sound so far."""
        return self._samples / self._rate

    def _decode_waiting(self) -> list[FloatArray]:
        if not self._waiting:
            return []
        if self._decoder is None:
            self._decoder = self._codec.stream()
        elif self._new_piece:
            self._decoder.restart()
        self._new_piece = False
        decoded = self._decoder.decode(np.stack(self._waiting))
        self._waiting.clear()
        self._audible = self._audible or bool(decoded.any())
        sound = self._dead_air.shorten(decoded if self._options.stereo else mono(decoded))
        pause, self._pause_due, self._paused = self._pause_due, 0.0, False
        return [silence(pause, self._rate, self._channels), sound] if pause else [sound]

    def _end_piece(self) -> None:
        if self._dead_air.dropped:
            _LOGGER.info(
                "Shortened near-silence inside a sentence by %.2f s",
                self._dead_air.dropped / self._rate,
            )
        self._pieces += 1
        self._pause_due = self._options.sentence_silence if self._audible else 0.0
        self._new_piece = True
        self._dead_air = DeadAir(self._rate)

    def _pause(self, pause: Pause) -> None:
        """Note silence that the text asks for; it replaces the one between pieces."""
        self._pause_due = pause.seconds + (self._pause_due if self._paused else 0.0)
        self._paused = True

    def _pcm(self, sounds: list[FloatArray]) -> Pcm:
        ready = [self._limiter.take(sound) for sound in sounds]
        nothing = silence(0, self._rate, self._channels)
        return self._count(to_pcm(np.concatenate([nothing, *ready], axis=1)))

    def _count(self, pcm: Pcm) -> Pcm:
        self._samples += len(pcm)
        if len(pcm):
            self._pace.sent(len(pcm) / self._rate)
        return pcm


class Engine:
    """Speaks with one bundle: ``load`` it, ``warm_up``, then ``speak``."""

    def __init__(self, bundle: Bundle, codec: Codec, language: LanguageModel) -> None:
        self.bundle = bundle
        self.codec = codec
        self.precision = language.precision
        self.most_together = language.most_together
        self._generator = language.generator(bundle)
        self._tokenizer = TextTokenizer(bundle)

    @classmethod
    def load(cls, bundle: Bundle, threads: int, compiled: Compiled | None = None) -> "Engine":
        """Return an engine whose graphs use ``threads`` threads each.

        Without compiled graphs the language model runs the published ones. Graphs are loaded when
        first used.
        """
        sessions = Sessions(bundle, threads)
        if compiled is None:
            language = exact_language(bundle, sessions)
        else:
            language = compiled_language(bundle, sessions, compiled, threads)
        return cls(bundle, Codec(bundle, sessions), language)

    def warm_up(self, reference: Codes) -> None:
        """Load the graphs that speaking needs and run each once: no request waits for that."""
        options = SpeechOptions()
        utterance = self.utter(self.pieces("Hello.") or [[]], reference, options)
        sound = self.sound(options, Listener())
        # the second frame is the first to need decode_step
        for event in (utterance.step(), utterance.step()):
            if event is not None:
                sound.take([event])
        utterance.close()

    def pieces(self, text: str, reading: Reading | None = None) -> list[Part]:
        """Return the token ids of the pieces of a text, and the silence that it asks for."""
        stream = self.piece_stream(reading or Reading())
        return self.encode([*stream.add(text), *stream.finish()])

    def piece_stream(self, reading: Reading) -> PieceStream:
        """Return what cuts an arriving text into pieces of this bundle's size."""
        return PieceStream(reading, self._tokenizer.count, self.bundle.rules.max_text_tokens)

    def encode(self, pieces: Iterable[Piece]) -> list[Part]:
        """Return the token ids of those pieces that have anything speakable, and pauses."""
        encoded: list[Part] = []
        for piece in pieces:
            ids = self._speakable_ids(piece.text)
            if ids:
                encoded.append(ids)
            if piece.pause_s:
                encoded.append(Pause(piece.pause_s))
        return encoded

    def _speakable_ids(self, text: str) -> list[int]:
        """Return the token ids of a text, none if nothing of it can be spoken."""
        if not is_speakable(text):
            return []
        tokens = self._tokenizer.encode(text)
        if tokens.speakable:
            return tokens.ids
        if tokens.unknown:
            _LOGGER.warning(
                "The model knows none of the %d characters of a piece of the text: it is left out",
                len(text),
            )
        return []

    def utter(self, pieces: Iterable[Part], reference: Codes, options: SpeechOptions) -> Utterance:
        """Open an utterance over pieces of token ids; more may be added."""
        utterance = Utterance(self._generator, reference, options)
        for piece in pieces:
            utterance.add(piece)
        return utterance

    def step(self, utterances: Sequence[Utterance]) -> list[Event | None]:
        """Make one frame of each of several utterances, ``most_together`` of them at most."""
        return step_together(utterances)

    def sound(self, options: SpeechOptions, pace: Pace) -> UtteranceSound:
        """Return what turns an utterance's frames into PCM."""
        return UtteranceSound(self.bundle, self.codec, options, pace)

    def speak(
        self,
        text: str,
        reference: Codes,
        options: SpeechOptions | None = None,
        pace: Pace | None = None,
        reading: Reading | None = None,
    ) -> Iterator[Pcm]:
        """Yield PCM int16 [samples, channels] as it is made; close the iterator to stop.

        A text without anything speakable becomes a short silence.

        Raises:
            SpeechError: nothing could be made of the text.
        """
        options = options or SpeechOptions()
        sound = self.sound(options, pace or Listener())
        utterance = self.utter(self.pieces(text, reading), reference, options)
        started = time.monotonic()
        try:
            while (event := utterance.step()) is not None:
                pcm = sound.take([event])
                if len(pcm):
                    yield pcm
        finally:
            utterance.close()
        yield sound.finish()
        _LOGGER.info(
            "Spoke %d characters: %.2f s of sound in %.2f s",
            len(text),
            sound.seconds,
            time.monotonic() - started,
        )
