"""The audio codec: recordings to codes, and codes to sound, whole or as they are made."""

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
        return StreamingDecoder(self._sessions.graph("codec_decode_step"), self._config.state)


class StreamingDecoder:
    """Decodes the frames of one piece in groups; any grouping gives the same sound.

    It holds the codec's state: every attention window as far as it is filled.
    """

    def __init__(self, graph: Graph, state: tuple[StateTensor, ...]) -> None:
        self._graph = graph
        self._names = [(tensor.input_name, tensor.output_name) for tensor in state]
        self._state: dict[str, NDArray[Any]] = {
            tensor.input_name: np.full(
                tensor.shape, tensor.initial, dtype=np.dtype(tensor.element_type)
            )
            for tensor in state
        }

    def decode(self, codes: Codes) -> FloatArray:
        """Return the sound [channels, samples] of the next frames [frames, codebooks]."""
        outputs = self._graph.run({**_code_inputs(codes), **self._state})
        self._state = {before: outputs[after] for before, after in self._names}
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
