"""Weights of a model that stops by itself, some frames after each text token.

A few dimensions of the hidden state are kept apart from the noise and used in pairs
(+1, -1) / sqrt(2), so that a LayerNorm's mean falls out of every reading:

- Every row of a prompt says what it is: TEXT, GEN (a generated frame) or OTHER.
- Attention head 0 of the first global layer looks at all TEXT and GEN rows alike, whatever
  asks, and a TEXT row weighs `frames_per_token` times as much as a GEN row. TEXT counts +1 and
  GEN -1, so their mean, written to BALANCE, changes sign when there are enough frames.
- Two GELU units make a clipped ramp out of a number: gelu(z + s) - gelu(z - s). The MLP of
  layer 0 sharpens BALANCE to SHARP, that of layer 1 SHARP to STOP, and that of the local
  transformer STOP once more, until it flips within about a frame.
- The text embeddings of the assistant slot and of the audio end differ in STOP only. They are
  the text head as well, so STOP decides between the two.

All else is noise that reads what the rows hold and never writes to these dimensions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import special
from .filling import RandomFilling
from .size import BundleSize
from .tensors import Role, Tensor

Values = NDArray[np.float32]
# Makes a weight of the block with this name.
_Make = Callable[[Tensor, str], Values]

TEXT, GEN, OTHER, BALANCE, SHARP, STOP = range(6)
_PAIRS = 6
_CATEGORIES = 2 * (OTHER + 1)
_CONTENT = 2 * _PAIRS
_NEEDED_LAYERS = 2
_BLOCK_WORDS = 3

# Norms within a row before the first layer. The category outweighs what a row holds, so that
# rows of one category look alike to the head that counts them.
_CATEGORY = 34.0
_HELD = 12.0
_STOP_HEAD = 5.0
# Score of rows that are neither text nor generated; their weight vanishes.
_UNSEEN = -30.0
# The clipped ramp: half its width, and how fast it is passed.
_RAMP = 6.0
_STEEPNESS = 30.0
_BALANCE_SIZE = 20.0
_CLIPPED_SIZE = 20.0
_LOCAL_CLIPPED_SIZE = 60.0

# Spreads of the noise; chosen so that attention is selective, every branch changes the hidden
# state by about as much as a row holds, and the logits of a head spread by two to three.
_READ_CONTENT = 0.4
_READ_CATEGORY = 0.1
_CLOSE_ATTENTION = 0.45
_CLOSE_MLP = 0.26
_LOCAL_BOOST = 2.0
_BIAS = 0.05


@dataclass(frozen=True)
class _Ramp:
    """Where a layer's two clipping units read and write, and how far."""

    source: int
    target: int
    size: float


class StoppingFilling:
    """As `RandomFilling`, with the language model made as described above.

    Raises:
        ValueError: If the size has fewer than two global layers or no room beside the features.
    """

    def __init__(self, size: BundleSize, seed: int) -> None:
        if size.frames_per_token is None:
            raise ValueError("frames_per_token is not set")
        if size.global_layers < _NEEDED_LAYERS or size.hidden <= 2 * _CONTENT:
            raise ValueError("a bundle that stops needs two global layers and more hidden width")
        self._size = size
        self._weight = size.frames_per_token
        self._random = RandomFilling(size, seed)
        self._code = _HELD / size.codebooks**0.5
        self._ramps = {
            "transformer.h.0": _Ramp(BALANCE, SHARP, _CLIPPED_SIZE),
            "transformer.h.1": _Ramp(SHARP, STOP, _CLIPPED_SIZE),
            "local_transformer.h.0": _Ramp(STOP, STOP, _LOCAL_CLIPPED_SIZE),
        }
        self._parts: dict[str, _Make] = {
            "attn.c_attn.weight": self._reading_attention,
            "attn.c_attn.bias": self._attention_bias,
            "attn.c_proj.weight": self._closing_attention,
            "mlp.fc_in.weight": self._reading_mlp,
            "mlp.fc_in.bias": self._mlp_bias,
            "mlp.fc_out.weight": self._closing_mlp,
            "mlp.fc_out.bias": self._closing_mlp_bias,
        }

    def array(self, tensor: Tensor) -> Values:
        """The values of one weight, float32 [tensor.shape]."""
        if tensor.source is not None:
            return np.ascontiguousarray(self.array(tensor.source).T)
        if tensor.role is Role.TEXT_EMBEDDING:
            return self._text_embedding(tensor)
        if tensor.role is Role.AUDIO_EMBEDDING:
            return self._content_rows(tensor, self._code)
        # transformer.h.0.attn.c_attn.weight: the block, then the part of it.
        words = tensor.name.split(".")
        block, part = ".".join(words[:_BLOCK_WORDS]), ".".join(words[_BLOCK_WORDS:])
        if part in self._parts:
            return self._parts[part](tensor, block)
        return self._outside_blocks(tensor)

    def _outside_blocks(self, tensor: Tensor) -> Values:
        values = self._random.array(tensor)
        if tensor.role is Role.BIAS and tensor.shape == (self._size.hidden,):
            values[:_CONTENT] = 0
        return values

    def _text_embedding(self, tensor: Tensor) -> Values:
        values = self._content_rows(tensor, _HELD)
        values[special.FIRST_BYTE : special.FIRST_PIECE] += _CATEGORY * self._pair(TEXT)
        values[special.FIRST_WORD_PIECE :] += _CATEGORY * self._pair(TEXT)
        values[: special.FIRST_BYTE] += _CATEGORY * self._pair(OTHER)
        values[special.FIRST_PIECE : special.FIRST_WORD_PIECE] += _CATEGORY * self._pair(OTHER)
        # One end marker stands in every prompt; it weighs as much as one frame.
        candidate = _CATEGORY * self._pair(GEN)
        values[special.AUDIO_ASSISTANT_SLOT] = candidate + _STOP_HEAD * self._pair(STOP)
        values[special.AUDIO_END] = candidate - _STOP_HEAD * self._pair(STOP)
        return values

    def _content_rows(self, tensor: Tensor, norm: float) -> Values:
        values = self._random.noise(tensor, 1.0)
        values[:, :_CONTENT] = 0
        held = values[:, _CONTENT:]
        held -= held.mean(axis=1, keepdims=True)
        held *= np.float32(norm) / np.linalg.norm(held, axis=1, keepdims=True)
        return values

    def _reading(self, tensor: Tensor) -> Values:
        values = self._random.noise(tensor, _READ_CONTENT)
        values[:_CATEGORIES] *= np.float32(_READ_CATEGORY / _READ_CONTENT)
        values[_CATEGORIES:_CONTENT] = 0
        return values

    def _closing(self, tensor: Tensor, spread: float, name: str) -> Values:
        boost = _LOCAL_BOOST if name.startswith("local") else 1.0
        values = self._random.noise(tensor, spread * boost)
        values[:, :_CONTENT] = 0
        return values

    def _reading_attention(self, tensor: Tensor, name: str) -> Values:
        values = self._reading(tensor)
        if not _counts(name):
            return values
        hidden, width = self._size.hidden, self._size.head_dim
        values[:, :width] = 0
        values[:, hidden : hidden + width] = 0
        text, generated = self._seen(_HELD), self._seen(np.hypot(_STOP_HEAD, _HELD))
        # The slowest pair of the rotation hardly turns over the length of a prompt.
        score = np.log(self._weight) * self._pair(TEXT) + _UNSEEN * self._pair(OTHER)
        values[:, hidden + width - 2] = score / text
        values[:, 2 * hidden] = self._pair(TEXT) / text - self._pair(GEN) / generated
        return values

    def _attention_bias(self, tensor: Tensor, name: str) -> Values:
        values = self._random.noise(tensor, _BIAS)
        if _counts(name):
            hidden, width = self._size.hidden, self._size.head_dim
            values[:width] = 0
            values[hidden : hidden + width] = 0
            values[2 * hidden] = 0
            # Undoes the scaling of scores.
            values[width - 2] = width**0.5
        return values

    def _closing_attention(self, tensor: Tensor, name: str) -> Values:
        values = self._closing(tensor, _CLOSE_ATTENTION, name)
        if _counts(name):
            values[0] = _BALANCE_SIZE * self._pair(BALANCE)
        return values

    def _reading_mlp(self, tensor: Tensor, name: str) -> Values:
        values = self._reading(tensor)
        if name in self._ramps:
            steep = _STEEPNESS * self._pair(self._ramps[name].source)
            values[:, 0] = steep
            values[:, 1] = steep
        return values

    def _mlp_bias(self, tensor: Tensor, name: str) -> Values:
        values = self._random.noise(tensor, _BIAS)
        if name in self._ramps:
            values[:2] = _RAMP, -_RAMP
        return values

    def _closing_mlp(self, tensor: Tensor, name: str) -> Values:
        values = self._closing(tensor, _CLOSE_MLP, name)
        if name in self._ramps:
            ramp = self._ramps[name]
            rise = ramp.size / _RAMP * self._pair(ramp.target)
            values[0] = rise
            values[1] = -rise
        return values

    def _closing_mlp_bias(self, tensor: Tensor, name: str) -> Values:
        values = self._outside_blocks(tensor)
        if name in self._ramps:
            ramp = self._ramps[name]
            values -= ramp.size * self._pair(ramp.target)
        return values

    def _pair(self, pair: int) -> Values:
        values = np.zeros(self._size.hidden, np.float32)
        values[2 * pair : 2 * pair + 2] = 0.5**0.5, -(0.5**0.5)
        return values

    def _seen(self, held: float) -> float:
        """How large the first LayerNorm makes the category of a row that holds so much."""
        return float(_CATEGORY * self._size.hidden**0.5 / np.hypot(_CATEGORY, held))


def _counts(name: str) -> bool:
    return name == "transformer.h.0"
