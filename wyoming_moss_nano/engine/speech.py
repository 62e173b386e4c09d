"""Speaking: the engine, which opens utterances and turns them into sound."""

import logging
import time
from collections.abc import Iterable, Iterator, Sequence

from ..model.bundle import Bundle
from ..model.compiled import Compiled
from ..model.sessions import Sessions
from ..model.tokenizer import TextTokenizer
from ..text.piece import Piece
from ..text.reading import Reading
from ..text.split import is_speakable
from ..text.stream import PieceStream
from .codec import Codec
from .language import LanguageModel, compiled_language, exact_language
from .options import SpeechOptions
from .pace import Listener, Pace
from .pcm import Pcm
from .prompt import Codes
from .sound import UtteranceSound
from .utterance import Event, Part, Pause, Utterance, step_together

_LOGGER = logging.getLogger(__name__)


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
