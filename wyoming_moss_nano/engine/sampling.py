"""Choosing the next code: the random stream, what was said before, and the host's sampler.

The arithmetic follows the publisher's CPU runtime step by step, down to the precision of every
operation, because `exact` promises the same frames for the same seed.
"""

from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..model.metadata import ModelConfig

# The publisher's clamp on random numbers: the largest float32 below 1, so that no draw selects
# past the end of a distribution.
_BELOW_ONE: Final = 0.99999994

FloatArray = NDArray[np.float32]
_Float = TypeVar("_Float", np.float32, np.float64)


class RandomStream:
    """The random numbers of one request: NumPy's PCG64 seeded once, drawn in a fixed order."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def draw(self) -> float:
        """Return one double in [0, 1)."""
        return float(self._generator.random())

    def draw_clamped(self, count: int) -> FloatArray:
        """Return ``count`` draws in [0, 1), clamped and rounded to float32 [count]."""
        return np.minimum(self._generator.random(count), _BELOW_ONE).astype(np.float32)


class SeenCodes:
    """Codes already generated in one piece, which the repetition penalty makes less likely."""

    def __init__(self, config: ModelConfig) -> None:
        self.mask = np.zeros((1, config.n_vq, max(config.codebook_sizes)), dtype=np.int32)
        self._codebooks = np.arange(config.n_vq)

    def add(self, frame: NDArray[np.int32]) -> None:
        """Note the codes [n_vq] of one frame."""
        self.mask[0, self._codebooks, frame] = 1

    def of(self, codebook: int) -> NDArray[np.bool_]:
        """Return which codes of a codebook were generated, bool [codebook size]."""
        return np.asarray(self.mask[0, codebook], dtype=np.bool_)


def most_likely(logits: FloatArray, seen: NDArray[np.bool_], penalty: float) -> int:
    """Return the code of the highest logit after the repetition penalty, the first of equals."""
    return int(np.argmax(_penalized(logits.astype(np.float64), seen, penalty)))


def sampled(
    logits: FloatArray,
    seen: NDArray[np.bool_],
    *,
    penalty: float,
    temperature: float,
    top_k: int,
    top_p: float,
    draw: float,
) -> int:
    """Return a code drawn from logits [codes]: penalty, temperature, top-k, top-p, then the draw.

    Ties at the top-k threshold are kept, and so is the code that crosses ``top_p``; 0 for ``top_k``
    and 0 or 1 for ``top_p`` turn them off.
    """
    scores = _penalized(logits, seen, penalty) / np.float32(temperature)
    if 0 < top_k < len(scores):
        threshold = np.sort(scores)[-top_k]
        scores[scores < threshold] = -np.inf
    if 0 < top_p < 1:
        # stable, so that of equal scores the lower code counts as the likelier
        order = np.argsort(-scores, kind="stable")
        over = np.cumsum(_softmax(scores[order])) > top_p
        scores[order[1:][over[:-1]]] = -np.inf
    probabilities = _softmax(scores)
    remaining = np.subtract.accumulate(np.concatenate([[draw], probabilities]))[1:]
    reached = remaining <= 0
    return int(np.argmax(reached)) if reached.any() else int(np.argmax(scores))


def _penalized(logits: NDArray[_Float], seen: NDArray[np.bool_], penalty: float) -> NDArray[_Float]:
    factor = logits.dtype.type(penalty)
    return np.where(seen, np.where(logits < 0, logits * factor, logits / factor), logits)


def _softmax(scores: FloatArray) -> NDArray[np.float64]:
    exponentials = np.exp((scores - scores.max()).astype(np.float64))
    return np.asarray(exponentials / np.sum(exponentials, dtype=np.float64))
