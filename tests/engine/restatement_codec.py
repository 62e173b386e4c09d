"""The audio codec once more, in plain NumPy; see `restatement` for what that is for."""

import json
import math
from pathlib import Path

import numpy as np

from tests.engine.restatement import attention, layer_norm, read_weights

CODEC_FOLDER = "MOSS-Audio-Tokenizer-Nano-ONNX"

_erf = np.vectorize(math.erf)


def gelu_erf(values):
    return values / 2 * (1 + _erf(values / math.sqrt(2)))


def joined_patches(tokens, patch):
    """One token of ``patch`` successive ones: channel d of token j becomes d * patch + j."""
    joined = np.empty((len(tokens) // patch, tokens.shape[1] * patch))
    for place in range(patch):
        joined[:, place::patch] = tokens[place::patch]
    return joined


def split_patches(tokens, patch):
    """The tokens that `joined_patches` made one of."""
    split = np.empty((len(tokens) * patch, tokens.shape[1] // patch))
    for place in range(patch):
        split[place::patch] = tokens[:, place::patch]
    return split


class Codec:
    """Encoder and decoder of a random bundle; sound is [channels, samples]."""

    def __init__(self, folder: Path) -> None:
        codec = folder / CODEC_FOLDER
        self._weights = read_weights(
            codec / "moss_audio_tokenizer_encode.onnx",
            codec / "moss_audio_tokenizer_decode_full.onnx",
        )
        metadata = json.loads((codec / "codec_browser_onnx_meta.json").read_bytes())
        config = metadata["codec_config"]
        self._channels = config["channels"]
        self._books = config["num_quantizers"]
        self._frame = config["downsample_rate"]
        caches = metadata["streaming_decode"]["attention_caches"]
        self._heads = caches[0]["num_heads"]
        # modules of the decoder with their windows, in order; the encoder mirrors them
        self._windows = {cache["decoder_index"]: cache["context"] for cache in caches}

    def decode(self, codes):
        """The sound of codes [frames, codebooks]."""
        quantised = sum(self._vectors(book, codes[:, book]) for book in range(self._books))
        tokens = self._linear(quantised, "quantizer.output_proj")
        for module, window in self._windows.items():
            stage = f"decoder.{module}"
            patch = tokens.shape[1] // len(self._weights[f"{stage}.input_proj.weight"])
            tokens = self._stage(split_patches(tokens, patch), stage, window)
        # the last tokens hold one channel: samples of left and right in turn
        return tokens.reshape(-1, self._channels).T

    def encode(self, sound):
        """The codes [whole frames, codebooks] of a sound."""
        samples = sound.shape[1]
        padded = np.pad(sound.astype(np.float64), ((0, 0), (0, -samples % self._frame)))
        stream = padded.T.reshape(-1, 1)
        tokens = stream
        for module, window in zip(self._windows, reversed(self._windows.values()), strict=True):
            stage = f"encoder.{module}"
            tokens = self._stage(self._joined(tokens, f"{stage}.input_proj"), stage, window)
        rest = self._linear(self._joined(tokens, "quantizer.input_proj"), "quantizer.input_proj")
        codes = []
        for book in range(self._books):
            wanted = _unit(self._linear(rest, f"quantizer.{book}.in_proj"))
            entries = _unit(self._weights[f"quantizer.{book}.codebook.weight"])
            distances = ((wanted[:, np.newaxis] - entries) ** 2).sum(axis=2)
            codes.append(distances.argmin(axis=1))
            rest = rest - self._vectors(book, codes[-1])
        return np.stack(codes, axis=1)[: samples // self._frame]

    def _joined(self, tokens, projection):
        wanted = len(self._weights[f"{projection}.weight"])
        return joined_patches(tokens, wanted // tokens.shape[1])

    def _stage(self, tokens, name, window):
        weights = self._weights
        states = tokens @ weights[f"{name}.input_proj.weight"]
        layers = sum(key.startswith(f"{name}.layers.") for key in weights if "norm1.bias" in key)
        for layer in range(layers):
            block = f"{name}.layers.{layer}"
            joined = (
                self._norm(states, f"{block}.norm1") @ weights[f"{block}.self_attn.in_proj.weight"]
            )
            mixed = attention(joined, self._heads, window)
            scale = weights[f"{block}.layer_scale_1.scale"]
            states = states + scale * (mixed @ weights[f"{block}.self_attn.out_proj.weight"])
            inner = self._norm(states, f"{block}.norm2") @ weights[f"{block}.linear1.weight"]
            scale = weights[f"{block}.layer_scale_2.scale"]
            states = states + scale * (gelu_erf(inner) @ weights[f"{block}.linear2.weight"])
        return states @ weights[f"{name}.output_proj.weight"]

    def _vectors(self, book, codes):
        entries = self._weights[f"quantizer.{book}.codebook.weight"][codes]
        return self._linear(entries, f"quantizer.{book}.out_proj")

    def _linear(self, rows, name):
        return rows @ self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]

    def _norm(self, rows, name):
        return layer_norm(rows, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
