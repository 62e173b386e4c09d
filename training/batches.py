"""Batches of aligned utterances, each with a stretch of its speaker as reference, spoilt a little.

What the model will hear of itself is never quite right: codes are swapped for near ones, frames
dropped and the pointer shifted, so that it learns to go on from there.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from . import tokens
from .alignment import QUARTERS, Aligned
from .codec import CODEBOOKS, CODES, GAINS, PITCHES
from .model import STEPS, Batch

NEAR: Final = 8  # codewords that count as near
ENVELOPES_SWAPPED, TONES_SWAPPED, FRAMES_DROPPED = 0.08, 0.06, 0.06
POINTER_SHIFTS: Final = np.array([0] * 14 + [-1, -1, 1, 1, -2, 2])
TONE_SHIFTS: Final = (-GAINS, GAINS, -1, 1, -GAINS - 1, GAINS + 1)
# shortest and longest reference in frames, and how often it is of that kind
REFERENCES: Final = ((8, 24, 0.66), (24, 70, 0.26), (70, 180, 0.08))
ROWS: Final = 7600  # of a batch, padding included
POOL: Final = 3000  # utterances sorted by length together
NO_TARGET: Final = -100

Chance = np.random.Generator
Array = npt.NDArray[np.int64]


@dataclass
class Corpus:
    """Aligned utterances and which of them each speaker said."""

    utterances: Sequence[Aligned]
    of_speaker: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for number, utterance in enumerate(self.utterances):
            self.of_speaker[utterance.speaker].append(number)

    def reference(self, number: int, wanted: int, chance: Chance) -> Array:
        """Return a stretch [wanted, CODEBOOKS] of what the same speaker said elsewhere."""
        others = [n for n in self.of_speaker[self.utterances[number].speaker] if n != number]
        parts: list[npt.NDArray[np.uint16]] = []
        while sum(map(len, parts)) < wanted:
            parts.append(self.utterances[others[chance.integers(len(others))]].codes)
        joined = np.concatenate(parts).astype(np.int64)
        start = int(chance.integers(0, len(joined) - wanted + 1))
        return joined[start : start + wanted]


def near_codewords(codebook: Tensor) -> Array:
    """Return the codewords [CODES, NEAR] nearest to each."""
    closeness = 2 * codebook @ codebook.T - (codebook**2).sum(1)
    return closeness.topk(NEAR + 1, 1)[1][:, 1:].numpy()


@dataclass(frozen=True)
class Plan:
    """Which utterances make a batch, and how many frames of reference each gets.

    One length for all of them: rows of padding cost as much as others.
    """

    numbers: list[int]
    reference: int


def plan(corpus: Corpus, numbers: Sequence[int], chance: Chance) -> list[Plan]:
    """Put the numbers of utterances into batches of similar length, in random order."""
    order = chance.permutation(np.array(numbers))
    plans: list[Plan] = []
    for start in range(0, len(order), POOL):
        pool = sorted(order[start : start + POOL], key=lambda n: rows_of(corpus.utterances[n]))
        batch = Plan([], reference_length(chance))
        for number in pool:
            longest = rows_of(corpus.utterances[number]) + batch.reference
            if batch.numbers and (len(batch.numbers) + 1) * longest > ROWS:
                plans.append(batch)
                batch = Plan([], reference_length(chance))
            batch.numbers.append(number)
        plans.append(batch)
    return [plans[place] for place in chance.permutation(len(plans))]


def reference_length(chance: Chance) -> int:
    """Return a number of frames of reference, short ones being more common."""
    low, high, _ = REFERENCES[chance.choice(len(REFERENCES), p=[p for *_, p in REFERENCES])]
    return int(chance.integers(low, high + 1))


def rows_of(utterance: Aligned) -> int:
    """Return how many rows an utterance takes without its reference."""
    return len(utterance.text) + len(utterance.codes) + len(tokens.prompt_tokens(0, []))


def endless_batches(corpus: Corpus, numbers: Sequence[int], seed: int) -> Iterator[Plan]:
    """Yield the plans of one epoch after the other."""
    epoch = 0
    while True:
        yield from plan(corpus, numbers, np.random.default_rng([seed, epoch]))
        epoch += 1


class Collator:
    """Makes a batch of utterances."""

    def __init__(self, corpus: Corpus, codebook: Tensor) -> None:
        self._corpus = corpus
        self._near = near_codewords(codebook)

    def collate(self, planned: Plan, chance: Chance, *, spoilt: bool) -> Batch:
        """Return the batch; ``spoilt`` is how it is trained on."""
        numbers, length = planned.numbers, planned.reference
        picked = [self._corpus.utterances[number] for number in numbers]
        voices = [self._corpus.reference(number, length, chance) for number in numbers]
        texts = [tokens.character_ids(utterance.text) for utterance in picked]
        prompts = [
            tokens.prompt_tokens(len(voice), text)
            for voice, text in zip(voices, texts, strict=True)
        ]
        frames = [len(utterance.codes) for utterance in picked]
        longest = max(len(p) + count for p, count in zip(prompts, frames, strict=True))
        shape = (len(numbers), longest)
        ids = np.full(shape, tokens.PAD)
        clean = np.zeros((*shape, CODEBOOKS), np.int64)
        character, reference, spoken, heard = (np.zeros(shape, np.float32) for _ in range(4))
        pointer = np.zeros(shape, np.int64)
        frame = np.full((*shape, CODEBOOKS), NO_TARGET)
        stop, step, sound = (np.full(shape, NO_TARGET) for _ in range(3))
        for row, (utterance, voice, prompt) in enumerate(zip(picked, voices, prompts, strict=True)):
            count, begin, text = len(utterance.codes), len(prompt), len(utterance.text)
            voiced = slice(tokens.first_reference_row(), tokens.first_reference_row() + len(voice))
            read = slice(
                tokens.first_text_row(len(voice)), tokens.first_text_row(len(voice)) + text
            )
            said, predicting = slice(begin, begin + count), slice(begin - 1, begin + count)
            ids[row, :begin] = prompt
            ids[row, said] = tokens.ASSISTANT_SLOT
            clean[row, voiced], clean[row, said] = voice, utterance.codes
            heard[row, voiced] = heard[row, said] = 1
            reference[row, voiced] = character[row, read] = spoken[row, predicting] = 1
            sound[row, read] = utterance.sounds + 1
            places = utterance.pointer.astype(np.int64)
            if spoilt:
                places = self._shift(places, QUARTERS * text - 1, chance)
            pointer[row, predicting] = places + QUARTERS * read.start
            frame[row, begin - 1 : begin + count - 1] = utterance.codes
            stop[row, predicting] = 0
            stop[row, begin + count - 1] = 1
            moved = utterance.pointer[1:] - places[:-1]
            step[row, begin - 1 : begin + count - 1] = np.clip(moved, 0, STEPS - 1)
        codes = self._spoil(clean, heard, spoken, chance) if spoilt else clean
        arrays = (ids, codes, heard, character, reference, spoken, pointer)
        targets = (frame, stop, step, sound)
        prompt_rows = torch.tensor([len(prompt) for prompt in prompts])
        begin = tokens.first_text_row(length)
        slices = (
            slice(tokens.first_reference_row(), tokens.first_reference_row() + length),
            slice(begin - 1, begin + max(map(len, texts)) + 2),
            slice(int(prompt_rows.min()) - 1, longest),
        )
        return Batch(
            *map(torch.from_numpy, arrays), prompt_rows, *map(torch.from_numpy, targets), *slices
        )

    @staticmethod
    def _shift(places: Array, last: int, chance: Chance) -> Array:
        shift = chance.choice(POINTER_SHIFTS, len(places))
        shift[0] = 0
        return np.clip(places + shift, 0, last)

    def _spoil(
        self,
        clean: Array,
        heard: npt.NDArray[np.float32],
        spoken: npt.NDArray[np.float32],
        chance: Chance,
    ) -> Array:
        """Return codes with some swapped for near ones; drop some frames from ``heard``."""
        codes = clean.copy()
        codes[..., 0::2] = self.swap(codes[..., 0::2], ENVELOPES_SWAPPED, chance)
        tones = codes[..., 1::2]
        swapped = (chance.random(tones.shape) < TONES_SWAPPED) & (tones >= GAINS)
        moved = tones + chance.choice(TONE_SHIFTS, tones.shape)
        tones[swapped] = np.clip(moved, GAINS, PITCHES * GAINS + GAINS - 1)[swapped]
        heard[(chance.random(heard.shape) < FRAMES_DROPPED) & (spoken > 0)] = 0
        return codes

    def swap(self, envelopes: Array, share: float, chance: Chance) -> Array:
        """Return envelope codes of which a share is swapped for near ones."""
        swapped = chance.random(envelopes.shape) < share
        result = envelopes.copy()
        result[swapped] = self._near[result[swapped], chance.integers(0, NEAR, swapped.sum())]
        return result


def sizes(corpus: Corpus) -> str:
    """Say how large a corpus is."""
    frames = sum(len(utterance.codes) for utterance in corpus.utterances)
    hours = frames * 0.08 / 3600
    count, speakers = len(corpus.utterances), len(corpus.of_speaker)
    return f"{count} sentences of {speakers} speakers, {hours:.1f} hours, {CODES} codes"
