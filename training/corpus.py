"""The corpus: what each speaker says, as codes and phonemes, in a file for each speaker."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from . import codec
from .speakers import Speaker, training_speaker
from .teacher import Phoneme, Teacher
from .texts import Sentences
from .words import read_words

SAMPLES_OF_FRAME: Final = codec.HOP * codec.SUBFRAMES
TAIL: Final = 0.06  # seconds of silence after the last phoneme
SEED: Final = 50_000


@dataclass(frozen=True)
class Utterance:
    """A sentence said: its codes [frames, CODEBOOKS] and its phonemes."""

    text: str
    codes: npt.NDArray[np.uint16]
    phonemes: list[Phoneme]


def utter(teacher: Teacher, text: str, speaker: Speaker, codebook: Tensor) -> Utterance:
    """Say a text and encode it, from its first sample to the frame in which it ends."""
    said = teacher.say(text, speaker)
    frames = max(1, math.ceil((said.end + TAIL) * codec.SAMPLE_RATE / SAMPLES_OF_FRAME))
    sound = np.zeros(frames * SAMPLES_OF_FRAME, np.float32)
    length = min(len(sound), len(said.sound))
    sound[:length] = said.sound[:length]
    codes = codec.encode(torch.from_numpy(sound), codebook).numpy().astype(np.uint16)
    return Utterance(text, codes, said.phonemes)


def speaker_path(folder: Path, number: int) -> Path:
    return folder / f"speaker{number:04}.npz"


def write_utterances(path: Path, utterances: Sequence[Utterance]) -> None:
    """Write the utterances of a speaker; the file is whole or absent."""
    phonemes = [phoneme for utterance in utterances for phoneme in utterance.phonemes]
    partial = path.with_suffix(".part.npz")
    np.savez_compressed(
        partial,
        texts=np.array([utterance.text for utterance in utterances]),
        codes=np.concatenate([utterance.codes for utterance in utterances]),
        frames=np.array([len(utterance.codes) for utterance in utterances]),
        names=np.array([phoneme.name for phoneme in phonemes]),
        starts=np.array([phoneme.start for phoneme in phonemes], np.float32),
        words=np.array([phoneme.word for phoneme in phonemes], np.int16),
        phonemes=np.array([len(utterance.phonemes) for utterance in utterances]),
    )
    partial.rename(path)


def read_utterances(path: Path) -> Iterator[Utterance]:
    """Read the utterances of a speaker."""
    with np.load(path) as stored:
        frame_ends, phoneme_ends = stored["frames"].cumsum(), stored["phonemes"].cumsum()
        codes = np.split(stored["codes"], frame_ends[:-1])
        columns = [np.split(stored[key], phoneme_ends[:-1]) for key in ("names", "starts", "words")]
        for text, spoken, *timing in zip(stored["texts"], codes, *columns, strict=True):
            rows = zip(*(part.tolist() for part in timing), strict=True)
            yield Utterance(str(text), spoken, [Phoneme(*row) for row in rows])


def make_share(folder: Path, codebook: Tensor, numbers: Sequence[int], sentences: int) -> None:
    """Make the files of some speakers that are not there yet."""
    torch.set_num_threads(1)
    teacher, words = Teacher(), read_words()
    for number in numbers:
        path = speaker_path(folder, number)
        if not path.exists():
            texts = zip(range(sentences), Sentences(words, SEED + number), strict=False)
            speaker = training_speaker(number)
            write_utterances(path, [utter(teacher, t, speaker, codebook) for _, t in texts])
            print(f"corpus: {path.name}, {speaker.variant}, pitch {speaker.pitch}", flush=True)


def make_corpus(
    folder: Path, codebook: Tensor, speakers: int, sentences: int, processes: int
) -> None:
    """Make a file for each speaker, those that are there already excepted."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes) as pool:
        shares = [range(first, speakers, processes) for first in range(processes)]
        made = [pool.submit(make_share, folder, codebook, share, sentences) for share in shares]
        for share in made:
            share.result()
