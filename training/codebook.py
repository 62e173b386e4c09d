"""The codebook of spectral envelopes: k-means over what all speakers say."""

from typing import Final

import torch
from torch import Tensor

from . import codec
from .speakers import training_speaker
from .teacher import Teacher
from .texts import Sentences

UTTERANCES: Final = 1500
ROUNDS: Final = 20
SEED: Final = 77


def envelopes(teacher: Teacher, sentences: Sentences) -> Tensor:
    """Return the envelopes [n, BANDS] of many speakers' utterances."""
    shapes = []
    for number, sentence in zip(range(UTTERANCES), sentences, strict=False):
        sound = teacher.say(sentence, training_speaker(number)).sound
        found = codec.analyse(torch.from_numpy(sound))
        shapes.append(found.shape[codec.gain_index(found.gain) > 0])
    return torch.cat(shapes)


def train_codebook(shapes: Tensor, start: Tensor | None) -> Tensor:
    """Return a codebook [CODES, BANDS]; codeword 0 is for silence.

    With ``start`` codewords keep their meaning, so that a model that knew them still does.
    """
    source = torch.Generator().manual_seed(SEED)
    if start is None:
        start = shapes[torch.randperm(len(shapes), generator=source)[: codec.CODES]]
    codebook = start.clone()
    for turn in range(ROUNDS):
        chosen = torch.cat([codec.nearest(part, codebook) for part in shapes.split(65_536)])
        count = torch.bincount(chosen, minlength=codec.CODES)
        sums = torch.zeros_like(codebook).index_add_(0, chosen, shapes)
        mean = sums / count.clamp_min(1)[:, None]
        codebook = torch.where(count[:, None] > 0, mean, codebook)
        error = (shapes - codebook[chosen]).pow(2)
        dead = (count < 3).nonzero()[:, 0]
        if len(dead):  # give them to the envelopes worst served
            worst = torch.multinomial(error.sum(1), len(dead), generator=source)
            codebook[dead] = shapes[worst]
        print(f"codebook: round {turn + 1} of {ROUNDS}, {error.mean().sqrt():.2f} dB", flush=True)
    codebook[0] = -10.0
    return codebook
