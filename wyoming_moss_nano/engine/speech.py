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
from ..text.split import PieceStream, is_speakable
from .codec import Codec, StreamingDecoder
from .generator import DEFAULT_MAX_FRAMES, Ending, Generator, Piece
from .language import LanguageModel, compiled_language, exact_language
from .local import SAMPLE_MODES
from .pcm import DeadAir, Limiter, Pcm, mono, silence, to_pcm
from .prompt import Codes
from .sampling import FloatArray, RandomStream

_LOGGER = logging.getLogger(__name__)

# What the publisher's runtime is seeded with where nothing else is asked for.
DEFAULT_SEED: Final = 1234

NOTHING_SPEAKABLE_SECONDS: Final = 0.1

# Larger groups cost no less per frame (benchmarks of the official graphs' size).
MOST_FRAMES_AT_ONCE: Final = 8


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
        self._pieces: deque[list[int]] = deque()
        self._piece: Piece[Any] | None = None

    def add(self, piece: list[int]) -> None:
        """Add token ids of the next piece of the text; may be called from another thread."""
        self._pieces.append(piece)

    @property
    def idle(self) -> bool:
        """Whether every piece so far is complete."""
        return self._piece is None and not self._pieces

    def step(self) -> Frame | PieceEnd | None:
        """Make one frame, or find that the piece is complete; None while idle.

        Raises:
            SpeechError: the model gave numbers that are none.
        """
        return step_together([self])[0]

    def piece(self) -> Piece[Any] | None:
        """Return the piece whose turn it is, or None while idle.

        Raises:
            SpeechError: it is longer than the model takes.
        """
        if self._piece is None and self._pieces:
            self._piece = self._generator.open(
                self._reference,
                self._pieces.popleft(),
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

    def next_frames(self, pieces: Sequence[Piece[Any]]) -> list[Codes | None]:
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


def step_together(utterances: Sequence[Utterance]) -> list[Frame | PieceEnd | None]:
    """Make one frame of each of several utterances of one engine, as ``Utterance.step`` does.

    Raises:
        SpeechError: the model gave numbers that are none.
    """
    pieces = [utterance.piece() for utterance in utterances]
    going = [piece for piece in pieces if piece is not None]
    frames = iter(utterances[0].next_frames(going) if going else [])
    return [
        utterance.note(next(frames)) if piece is not None else None
        for utterance, piece in zip(utterances, pieces, strict=True)
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
        """Return 1, 2, 4 or 8."""
        if self._started is None:
            return 1
        lead = self._sent_seconds - (self._clock() - self._started)
        return next(
            (frames for below, frames in ((0.2, 1), (0.55, 2), (1.1, 4)) if lead < below), 8
        )

    def sent(self, seconds: float) -> None:
        """Note sound; playback starts with the first of it."""
        if self._started is None:
            self._started = self._clock()
        self._sent_seconds += seconds


class Recorder:
    """The pace of a file, which nobody waits for: always the cheapest groups."""

    def frames_due(self) -> int:
        """Return 8."""
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
        self._pause_due = False
        self._pieces = 0
        self._audible = False
        self._samples = 0

    def take(self, events: Sequence[Frame | PieceEnd]) -> Pcm:
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
            else:
                sounds += self._decode_waiting()
                self._end_piece()
        if len(self._waiting) >= self._pace.frames_due():
            sounds += self._decode_waiting()
        return self._pcm(sounds)

    def finish(self) -> Pcm:
        """Return the last PCM: what the limiter holds and the silence at the end.

        Raises:
            SpeechError: there was text to speak, but all of it came out empty or as zeros.
        """
        if self._pieces == 0:
            return self._count(
                to_pcm(silence(NOTHING_SPEAKABLE_SECONDS, self._rate, self._channels))
            )
        if not self._audible:
            raise SpeechError(
                "the model made no sound for this text; try another seed, voice or wording"
            )
        rest = self._limiter.rest()
        end = silence(self._options.trailing_silence, self._rate, self._channels)
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
        if not self._pause_due:
            return [sound]
        self._pause_due = False
        return [silence(self._options.sentence_silence, self._rate, self._channels), sound]

    def _end_piece(self) -> None:
        if self._dead_air.dropped:
            _LOGGER.info(
                "Shortened near-silence inside a sentence by %.2f s",
                self._dead_air.dropped / self._rate,
            )
        self._pieces += 1
        self._pause_due = self._audible
        self._new_piece = True
        self._dead_air = DeadAir(self._rate)

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

    def pieces(self, text: str) -> list[list[int]]:
        """Return the token ids of the pieces of a text; none where nothing is speakable."""
        stream = self.piece_stream()
        return self.encode([*stream.add(text), *stream.finish()])

    def piece_stream(self) -> PieceStream:
        """Return what cuts an arriving text into pieces of this bundle's size."""
        return PieceStream(self._tokenizer.count, self.bundle.rules.max_text_tokens)

    def encode(self, pieces: Iterable[str]) -> list[list[int]]:
        """Return the token ids of those pieces that have anything speakable."""
        encoded = []
        for piece in filter(is_speakable, pieces):
            tokens = self._tokenizer.encode(piece)
            if tokens.speakable:
                encoded.append(tokens.ids)
            elif tokens.unknown:
                _LOGGER.warning(
                    "The model knows none of the %d characters of a piece of the text: "
                    "it is left out",
                    len(piece),
                )
        return encoded

    def utter(
        self, pieces: Iterable[list[int]], reference: Codes, options: SpeechOptions
    ) -> Utterance:
        """Open an utterance over pieces of token ids; more may be added."""
        utterance = Utterance(self._generator, reference, options)
        for piece in pieces:
            utterance.add(piece)
        return utterance

    def step(self, utterances: Sequence[Utterance]) -> list[Frame | PieceEnd | None]:
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
    ) -> Iterator[Pcm]:
        """Yield PCM int16 [samples, channels] as it is made; close the iterator to stop.

        A text without anything speakable becomes a short silence.

        Raises:
            SpeechError: nothing could be made of the text.
        """
        options = options or SpeechOptions()
        sound = self.sound(options, pace or Listener())
        utterance = self.utter(self.pieces(text), reference, options)
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
