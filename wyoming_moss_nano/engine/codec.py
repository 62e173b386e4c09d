"""The audio codec: recordings to codes, and codes to sound, whole or as they are made."""

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SpeechError
from ..model.bundle import Bundle
from ..model.metadata import StateTensor
from ..model.sessions import Graph, Sessions
from .prompt import Codes
from .sampling import FloatArray


class Codec:
    """One bundle's codec. Sound is float32 [channels, samples] at the bundle's sample rate."""

    def __init__(self, bundle: Bundle, sessions: Sessions) -> None:
        self._config = bundle.codec
        self._sessions = sessions
        self._spare = SpareState(bundle.codec.state)

    def encode(self, waveform: FloatArray) -> Codes:
        """Return the codes int32 [frames, codebooks] of a recording [channels, samples] in [-1, 1].

        A rest at the end that fills no frame is dropped.
        """
        outputs = self._sessions.graph("codec_encode").run(
            {
                "waveform": waveform[np.newaxis].astype(np.float32, copy=False),
                "input_lengths": np.array([waveform.shape[1]], dtype=np.int32),
            }
        )
        frames = int(outputs["audio_code_lengths"].item())
        codes: Codes = outputs["audio_codes"][0, :frames]
        return codes

    def decode(self, codes: Codes) -> FloatArray:
        """Return the sound of codes [frames, codebooks], decoded at once."""
        return _sound(self._sessions.graph("codec_decode_full").run(_code_inputs(codes)))

    def stream(self) -> "StreamingDecoder":
        """Return a decoder for frames that arrive one after the other."""
        return StreamingDecoder(self._sessions.graph("codec_decode_step"), self._spare)


class SpareState:
    """The codec's state beside those of the decoders: each call writes the next state into it.

    At the official size a state has 24 MB; making one anew in every call would cost more than a
    millisecond. Decoders of one codec share the spare one and take turns.
    """

    def __init__(self, tensors: tuple[StateTensor, ...]) -> None:
        self.tensors = tensors
        self.lock = threading.Lock()
        self._arrays: list[NDArray[Any]] | None = None

    def exchange(self, used: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the spare state and keep the used one instead."""
        spare, self._arrays = self.arrays, used
        return spare

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The spare state, with whatever is in it."""
        if self._arrays is None:
            self._arrays = self.new()
        return self._arrays

    def new(self) -> list[NDArray[Any]]:
        """Return one state more, not filled."""
        return [np.empty(t.shape, dtype=np.dtype(t.element_type)) for t in self.tensors]


class StreamingDecoder:
    """Decodes the frames of one piece in groups; any grouping gives the same sound.

    It holds the codec's state: every attention window as far as it is filled.
    """

    def __init__(self, graph: Graph, spare: SpareState) -> None:
        self._graph = graph
        self._spare = spare
        self._state = spare.new()
        self.restart()

    def restart(self) -> None:
        """Forget all frames: the next ones begin another piece."""
        for tensor, array in zip(self._spare.tensors, self._state, strict=True):
            array.fill(tensor.initial)

    def decode(self, codes: Codes) -> FloatArray:
        """Return the sound [channels, samples] of the next frames [frames, codebooks]."""
        tensors = self._spare.tensors
        before = {t.input_name: a for t, a in zip(tensors, self._state, strict=True)}
        with self._spare.lock:
            after = {t.output_name: a for t, a in zip(tensors, self._spare.arrays, strict=True)}
            outputs = self._graph.run_into({**_code_inputs(codes), **before}, after)
            self._state = self._spare.exchange(self._state)
        return _sound(outputs)


def _code_inputs(codes: Codes) -> dict[str, NDArray[np.int32]]:
    return {
        "audio_codes": np.ascontiguousarray(codes, dtype=np.int32)[np.newaxis],
        "audio_code_lengths": np.array([len(codes)], dtype=np.int32),
    }


def _sound(outputs: dict[str, NDArray[Any]]) -> FloatArray:
    samples = int(outputs["audio_lengths"].item())
    sound: FloatArray = outputs["audio"][0, :, :samples]
    if not np.isfinite(sound).all():
        raise SpeechError(
            "the codec made sound that is not a number: the model's files are damaged"
        )
    return sound
