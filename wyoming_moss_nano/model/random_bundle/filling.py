"""Random values for weights."""

import zlib

import numpy as np
from numpy.typing import NDArray

from .size import BundleSize
from .tensors import Role, Tensor

# GPT-2's initialisation.
LINEAR_SPREAD = 0.02
# Biases and the codec's norms are trained away from their initial values; small noise also
# keeps equal ones from being merged in the data file.
BIAS_SPREAD = 0.01
NORM_SPREAD = 0.02
LAYER_SCALE_SPREAD = 0.1


class RandomFilling:
    """Weights as a model has them before training.

    The values depend on the seed and the tensor's name only, not on the order of the calls.
    """

    def __init__(self, size: BundleSize, seed: int) -> None:
        self._size = size
        self._seed = seed
        # Both branches of every layer write into the residual stream.
        self._spreads = {
            Role.BIAS: BIAS_SPREAD,
            Role.CODEBOOK: 1.0,
            # Both branches of every layer write into the residual stream.
            Role.CLOSING: LINEAR_SPREAD / (2 * size.global_layers) ** 0.5,
        }

    def array(self, tensor: Tensor) -> NDArray[np.float32]:
        """The values of one weight, float32 [tensor.shape]."""
        if tensor.source is not None:
            return np.ascontiguousarray(self.array(tensor.source).T)
        match tensor.role:
            case Role.NORM_WEIGHT:
                return np.ones(tensor.shape, np.float32)
            case Role.CODEC_NORM_WEIGHT:
                return 1 + self.noise(tensor, NORM_SPREAD)
            case Role.LAYER_SCALE:
                scale = np.float32(self._size.layer_scale)
                return scale * (1 + self.noise(tensor, LAYER_SCALE_SPREAD))
            case Role.CODEC_LINEAR:
                return self.noise(tensor, tensor.gain * tensor.shape[0] ** -0.5)
            case role:
                return self.noise(tensor, self._spreads.get(role, LINEAR_SPREAD))

    def noise(self, tensor: Tensor, spread: float) -> NDArray[np.float32]:
        """Normal noise of a standard deviation, float32 [tensor.shape]."""
        generator = np.random.default_rng([self._seed, zlib.crc32(tensor.name.encode())])
        values = generator.standard_normal(tensor.shape, dtype=np.float32)
        values *= np.float32(spread)
        return values
