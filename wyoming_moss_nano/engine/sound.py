"""The sound of one utterance: frames in, PCM out, with its pauses."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import SpeechError
from ..model.bundle import Bundle
from .codec import Codec, StreamingDecoder
from .options import SpeechOptions
from .pace import MOST_FRAMES_AT_ONCE, Pace
from .pcm import DeadAir, Limiter, Pcm, mono, silence, to_pcm
from .sampling import FloatArray
from .utterance import Event, Frame, Pause, PieceEnd

if TYPE_CHECKING:
    from .prompt import Codes

_LOGGER = logging.getLogger(__name__)

NOTHING_SPEAKABLE_SECONDS: Final = 0.1


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
