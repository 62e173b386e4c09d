"""Which letter each frame has reached: letters and phonemes aligned by expectation maximisation.

Within a word, every phoneme is anchored at a letter, in order. A letter may be silent; it may also
carry several phonemes. Probabilities of letters sounding as phonemes are counted from the best
alignments of the round before.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from .corpus import Utterance, read_utterances
from .texts import CHARACTERS

FRAME: Final = 0.08  # seconds
ROUNDS: Final = 7
SAMPLE: Final = 6000  # utterances the probabilities are learned from
LOOSE, STRICT = 0.5, 0.05  # cost of leaving the diagonal, in the first two rounds and later
AGAIN: Final = 2.0  # cost of a letter's second phoneme
SILENT, SOUNDED, REPEATED = 0, 1, 2
QUARTERS: Final = 4  # a pointer counts quarters of a letter

Segment = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Aligned:
    """An utterance ready to be learned: F frames, N characters.

    ``pointer`` [F + 1] is the place in the text at each frame's border, in quarters of a character;
    ``sounds`` [N] names each character's phoneme by its place in the inventory, -1 for silent ones.
    """

    speaker: int
    text: str
    codes: npt.NDArray[np.uint16]
    pointer: npt.NDArray[np.int16]
    sounds: npt.NDArray[np.int16]


def segments(utterance: Utterance) -> Iterator[tuple[int, Segment]]:
    """Cut an utterance into words: where each starts, its letters and its phonemes."""
    groups: list[tuple[int, list[str]]] = []
    for phoneme in utterance.phonemes:
        if not groups or phoneme.word > groups[-1][0]:
            groups.append((phoneme.word if groups else 0, []))
        groups[-1][1].append(phoneme.name)
    ends = [start for start, _ in groups[1:]] + [len(utterance.text)]
    for (start, names), end in zip(groups, ends, strict=True):
        yield start, (utterance.text[start:end], tuple(names))


class Spelling:
    """How likely a letter sounds as a phoneme, and how likely it is silent."""

    def __init__(self) -> None:
        self._sound: dict[tuple[str, str], float] = {}
        self._unheard = -4.0
        self._silent = dict.fromkeys(CHARACTERS, -1.6)
        self._cost = LOOSE
        self.align = lru_cache(maxsize=None)(self._align)

    def learn(self, counts: Counter[Segment], *, cost: float) -> None:
        """Count anew from the best alignments of the segments."""
        pairs: Counter[tuple[str, str]] = Counter()
        silent: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for (letters, names), count in counts.items():
            anchors = self.align((letters, names))
            for name, anchor in zip(names, anchors, strict=True):
                pairs[letters[anchor], name] += count
                total[letters[anchor]] += count
            for place in set(range(len(letters))) - set(anchors):
                silent[letters[place]] += count
        quiet = {
            letter: np.clip(
                (silent[letter] + 0.5) / (silent[letter] + total[letter] + 1), 0.01, 0.9
            )
            for letter in CHARACTERS
        }
        self._silent = {letter: float(np.log(share)) for letter, share in quiet.items()}
        self._sound = {
            (letter, name): float(
                np.log((count + 0.02) / (total[letter] + 1) * (1 - quiet[letter]))
            )
            for (letter, name), count in pairs.items()
        }
        self._unheard, self._cost = float(np.log(1e-5)), cost
        self.align.cache_clear()

    def _align(self, segment: Segment) -> tuple[int, ...]:
        """Return the letter at which each phoneme of a segment is anchored."""
        letters, names = segment
        rows, columns = len(names), len(letters)
        best = [[-1e30] * (columns + 1) for _ in range(rows + 1)]
        move = [[SILENT] * (columns + 1) for _ in range(rows + 1)]
        best[0][0] = 0.0
        for column in range(1, columns + 1):
            best[0][column] = best[0][column - 1] + self._silent[letters[column - 1]]
        for row in range(1, rows + 1):
            for column in range(1, columns + 1):
                letter = letters[column - 1]
                bend = self._cost * abs(row / rows - column / columns) * columns
                sound = self._sound.get((letter, names[row - 1]), self._unheard) - bend
                best[row][column], move[row][column] = max(
                    (best[row][column - 1] + self._silent[letter], SILENT),
                    (best[row - 1][column - 1] + sound, SOUNDED),
                    (best[row - 1][column] + sound - AGAIN, REPEATED),
                )
        return self._trace(move, rows, columns)

    @staticmethod
    def _trace(move: list[list[int]], row: int, column: int) -> tuple[int, ...]:
        anchors = []
        while row > 0 and column > 0:
            step = move[row][column]
            if step != SILENT:
                anchors.append(column - 1)
                row -= 1
            if step != REPEATED:
                column -= 1
        anchors.extend([0] * row)
        return tuple(reversed(anchors))


def learn_spelling(utterances: Iterable[Utterance]) -> Spelling:
    """Learn how letters sound from a sample of the corpus."""
    counts = Counter(segment for said in utterances for _, segment in segments(said) if segment[0])
    spelling = Spelling()
    for turn in range(ROUNDS):
        spelling.learn(counts, cost=LOOSE if turn < 2 else STRICT)
        print(f"alignment: round {turn + 1} of {ROUNDS}, {len(counts)} segments", flush=True)
    return spelling


def anchors_of(utterance: Utterance, spelling: Spelling) -> list[int]:
    """Return the character of the text at which each phoneme is anchored."""
    anchors: list[int] = []
    for start, (letters, names) in segments(utterance):
        if letters:
            anchors += [start + place for place in spelling.align((letters, names))]
        else:
            anchors += [max(0, start - 1)] * len(names)
    return anchors


def pointer_of(utterance: Utterance, anchors: Sequence[int]) -> npt.NDArray[np.int16]:
    """Return the place in the text at each frame's border, in quarters of a character."""
    frames, characters = len(utterance.codes), len(utterance.text)
    times, places = [0.0], [0.0]
    for phoneme, anchor in zip(utterance.phonemes, anchors, strict=True):
        if phoneme.start > frames * FRAME:
            break
        if phoneme.start > times[-1] + 1e-4:
            times.append(phoneme.start)
            places.append(max(places[-1], float(anchor)))
        else:
            places[-1] = max(places[-1], float(anchor))
    times.append(max(times[-1] + 0.01, frames * FRAME))
    places.append(max(places[-1], characters - 0.01))
    quarters = np.interp(np.arange(frames + 1) * FRAME, times, places) * QUARTERS
    rising = np.maximum.accumulate(np.floor(quarters + 1e-4))
    return np.minimum(rising, QUARTERS * characters - 1).astype(np.int16)


def align(
    utterance: Utterance, speaker: int, spelling: Spelling, inventory: dict[str, int]
) -> Aligned:
    """Align an utterance; phonemes not met before join the inventory."""
    anchors = anchors_of(utterance, spelling)
    sounds = np.full(len(utterance.text), -1, np.int16)
    for phoneme, anchor in zip(utterance.phonemes, anchors, strict=True):
        number = inventory.setdefault(phoneme.name, len(inventory))
        if sounds[anchor] < 0:
            sounds[anchor] = number
    pointer = pointer_of(utterance, anchors)
    return Aligned(speaker, utterance.text, utterance.codes, pointer, sounds)


def align_corpus(folder: Path, inventory: dict[str, int]) -> list[Aligned]:
    """Align the whole corpus, in the order of its speakers."""
    paths = sorted(folder.glob("speaker????.npz"))
    sample: list[Utterance] = []
    for path in paths[:: max(1, len(paths) // 60)]:
        sample.extend(read_utterances(path))
    spelling = learn_spelling(sample[:SAMPLE])
    return [
        align(utterance, int(path.stem.removeprefix("speaker")), spelling, inventory)
        for path in paths
        for utterance in read_utterances(path)
    ]


def write_aligned(path: Path, aligned: Sequence[Aligned], inventory: dict[str, int]) -> None:
    """Write an aligned corpus and its inventory; the file is whole or absent."""
    partial = path.with_suffix(".part.npz")
    np.savez(
        partial,
        speakers=np.array([one.speaker for one in aligned], np.int32),
        texts=np.array([one.text for one in aligned]),
        frames=np.array([len(one.codes) for one in aligned]),
        codes=np.concatenate([one.codes for one in aligned]),
        pointers=np.concatenate([one.pointer for one in aligned]),
        sounds=np.concatenate([one.sounds for one in aligned]),
        inventory=np.array(list(inventory)),
    )
    partial.rename(path)


def read_aligned(path: Path) -> tuple[list[Aligned], dict[str, int]]:
    """Read an aligned corpus and its inventory."""
    with np.load(path) as stored:
        texts, frames = stored["texts"].tolist(), stored["frames"]
        codes = np.split(stored["codes"], frames.cumsum()[:-1])
        pointers = np.split(stored["pointers"], (frames + 1).cumsum()[:-1])
        letters = np.array([len(text) for text in texts])
        sounds = np.split(stored["sounds"], letters.cumsum()[:-1])
        inventory = {name: place for place, name in enumerate(stored["inventory"].tolist())}
        rows = zip(stored["speakers"].tolist(), texts, codes, pointers, sounds, strict=True)
        return [Aligned(*row) for row in rows], inventory
