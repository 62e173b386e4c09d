"""What the bundle is worth: understood as its teacher is, of the right pitch and length, and quick.

Everything is spoken by the project's own engine. The judge (benchmarks/hearing) runs in its own
environment, made by script/judge.
"""

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import soundfile
import torch
from scipy.signal import resample_poly

from benchmarks.hearing import score
from wyoming_moss_nano.engine.generator import Ending
from wyoming_moss_nano.engine.speech import Engine, Frame, PieceEnd, SpeechOptions
from wyoming_moss_nano.model.bundle import read_bundle

from . import codec
from .manifest import VOICES
from .speakers import UNSEEN_VARIANTS, Speaker
from .teacher import SAMPLE_RATE, Sound, Teacher

HEARING: Final = Path(__file__).parents[1] / "benchmarks" / "hearing"
CARRIER: Final = "The word {} is written on the board."
DEFAULT_VOICE: Final = "robin"
JUDGED_VOICES: Final = ("robin", "max", "fay")  # the default one, and two others
SEEDS: Final = (1, 2, 3)
GENERATIONS: Final = 500
# what speaks longer than that many times its teacher repeats itself or stutters
LONGEST, SHORTEST = 1.5, 0.6
REFERENCES: Final = (
    Speaker("en-us", 22),
    Speaker("en-us", 35),
    Speaker("en-us", 58),
    Speaker("en-us+m3", 30),
    Speaker("en-us+m3", 65),
    Speaker("en-us+m7", 35),
    Speaker("en-us+m7", 60),
    Speaker("en-us+f2", 25),
    Speaker("en-us+f2", 55),
    Speaker("en-us+f5", 30),
    Speaker("en-us+f5", 58),
    *(Speaker(variant, 40) for variant in UNSEEN_VARIANTS),
)
REFERENCE_TEXT: Final = "Please remember to water the garden before you leave the house today."
PARTS: Final = ("teacher", "steadiness", "likeness", "hearing")
PITCH_TEXTS: Final = slice(20, 24)  # of the sentences


@dataclass
class Judge:
    """Hears sounds; each is kept as a file in ``folder``."""

    python: Path
    folder: Path

    def hear(self, sounds: Sequence[tuple[Sound, int]]) -> list[str]:
        """Return what is heard in sounds, each with its rate."""
        paths = []
        for number, (sound, rate) in enumerate(sounds):
            paths.append(str(self.folder / f"{number:03}.wav"))
            soundfile.write(paths[-1], sound, rate)
        done = subprocess.run(
            [self.python, HEARING / "transcribe.py"],
            input="\n".join(paths),
            capture_output=True,
            text=True,
            check=True,
        )
        return [json.loads(line)["text"] for line in done.stdout.splitlines()]


@dataclass
class Spoken:
    """What a bundle made of a text: mono sound, its rate, its frames, and how it ended."""

    sound: Sound
    rate: int
    frames: int
    endings: list[Ending] = field(default_factory=list)


class Voicebox:
    """A bundle that speaks."""

    def __init__(self, bundle: Path) -> None:
        began = time.process_time()
        self.bundle = read_bundle(bundle)
        self.engine = Engine.load(self.bundle, threads=1)
        self.voices = dict(self.bundle.builtin_voices)
        self.engine.warm_up(self.voices[DEFAULT_VOICE])
        self.load_seconds = time.process_time() - began
        self.rate = self.bundle.codec.sample_rate

    def speak(self, text: str, codes: np.ndarray, seed: int = 1, mode: str = "fixed") -> Spoken:
        """Speak a text, as ``Engine.speak`` does, and keep count."""
        options = SpeechOptions(seed=seed, sample_mode=mode)
        utterance = self.engine.utter(self.engine.pieces(text), codes, options)
        frames: list[np.ndarray] = []
        spoken = Spoken(np.zeros(0, np.float32), self.rate, 0)
        while (event := utterance.step()) is not None:
            if isinstance(event, Frame):
                frames.append(event.codes)
            elif isinstance(event, PieceEnd):
                spoken.endings.append(event.ending)
        spoken.frames = len(frames)
        if frames:
            spoken.sound = self.engine.codec.decode(np.stack(frames))[0]
        return spoken

    def encode(self, sound: Sound) -> np.ndarray:
        """Return the reference codes of mono sound at 16 kHz."""
        wave = resample_poly(sound, self.rate, SAMPLE_RATE).astype(np.float32)
        return self.engine.codec.encode(np.stack([wave, wave]))


def install_judge() -> Path:
    """Return the Python of the judge's environment, which is made where it is missing.

    Raises:
        subprocess.CalledProcessError: it cannot be installed.
    """
    root = HEARING.parents[1]
    done = subprocess.run(
        [root / "script" / "judge"], stdout=subprocess.PIPE, text=True, check=True
    )
    return root / done.stdout.strip()


def lines(name: str) -> list[str]:
    return (HEARING / name).read_text(encoding="utf-8").splitlines()


def rate_of(judge: Judge, texts: Sequence[str], sounds: Sequence[tuple[Sound, int]]) -> float:
    """Return the word error rate in percent."""
    return score.total(zip(texts, judge.hear(sounds), strict=True)).rate


def words_heard(judge: Judge, words: Sequence[str], sounds: Sequence[tuple[Sound, int]]) -> int:
    """Return how many words were heard exactly."""
    heard = judge.hear(sounds)
    return sum(word in score.normal_words(text) for word, text in zip(words, heard, strict=True))


def of_teacher(teacher: Teacher, texts: Sequence[str], speaker: Speaker) -> list[tuple[Sound, int]]:
    return [(teacher.say(text, speaker).sound, SAMPLE_RATE) for text in texts]


def of_bundle(
    box: Voicebox, texts: Sequence[str], voice: str, mode: str
) -> list[tuple[Sound, int]]:
    spoken = [box.speak(text, box.voices[voice], mode=mode) for text in texts]
    return [(said.sound, said.rate) for said in spoken]


def teacher_scores(teacher: Teacher, judge: Judge) -> dict[str, Any]:
    """Return what the judge understands of the teacher itself."""
    texts, words = lines("sentences.txt"), lines("words.txt")
    speakers = {name.lower(): speaker for name, speaker in VOICES.items()}
    carried = [CARRIER.format(word) for word in words]
    robin = of_teacher(teacher, carried, speakers[DEFAULT_VOICE])
    return {
        "error_rate": {
            name: rate_of(judge, texts, of_teacher(teacher, texts, speakers[name]))
            for name in JUDGED_VOICES
        },
        "words_heard": words_heard(judge, words, robin),
    }


def hearing_scores(box: Voicebox, judge: Judge) -> dict[str, Any]:
    """Return what the judge understands of the bundle."""
    texts, words = lines("sentences.txt"), lines("words.txt")
    carried = [CARRIER.format(word) for word in words]
    rates = {
        name: rate_of(judge, texts, of_bundle(box, texts, name, "fixed")) for name in JUDGED_VOICES
    }
    some = texts[::5]
    modes = {
        mode: rate_of(judge, some, of_bundle(box, some, DEFAULT_VOICE, mode))
        for mode in ("greedy", "full")
    }
    robin = of_bundle(box, carried, DEFAULT_VOICE, "fixed")
    return {
        "error_rate": rates,
        "error_rate_of_modes_on_40": modes,
        "words_heard": words_heard(judge, words, robin),
    }


def requests() -> Iterator[tuple[str, str, int]]:
    """Yield texts, voices and seeds, every voice and seed as often as the others."""
    texts, voices = lines("sentences.txt"), [name.lower() for name in VOICES]
    for number in range(GENERATIONS):
        voice = voices[number % len(voices)]
        yield texts[number * 7 % len(texts)], voice, SEEDS[number // len(voices) % len(SEEDS)]


def steadiness(box: Voicebox, teacher: Teacher) -> dict[str, Any]:
    """Speak over all voices and seeds; return what went wrong, and the real-time factor."""
    speakers = {name.lower(): speaker for name, speaker in VOICES.items()}
    capped, empty, longer, shorter, factors = 0, 0, [], [], []
    for text, voice, seed in requests():
        began = time.process_time()
        said = box.speak(text, box.voices[voice], seed)
        factors.append((time.process_time() - began) / max(0.08, said.frames * 0.08))
        capped += any(ending is not Ending.STOPPED for ending in said.endings)
        empty += said.frames == 0
        ratio = said.frames * 0.08 / (teacher.say(text, speakers[voice]).end + 0.06)
        if ratio > LONGEST and said.frames > 12:
            longer.append([text, voice, seed, round(ratio, 2)])
        if ratio < SHORTEST:
            shorter.append([text, voice, seed, round(ratio, 2)])
    return {
        "generations": GENERATIONS,
        "ran_to_a_cap": capped,
        "empty": empty,
        "too_long": longer,
        "too_short": shorter,
        "real_time_factor_cpu_median": float(np.median(factors)),
    }


def median_pitch(sound: Sound, rate: int) -> float:
    """Return the median F0 in Hz of what is voiced and not silent."""
    wave = torch.from_numpy(resample_poly(sound, SAMPLE_RATE, rate).astype(np.float32))
    found = codec.analyse(wave)
    voiced = (found.voicing > 0.5) & (codec.gain_index(found.gain) > 4)
    return float(found.pitch[voiced].median())


def timbre(sound: Sound, rate: int) -> torch.Tensor:
    """Return the mean envelope [BANDS] in dB of what sounds, without its level."""
    wave = torch.from_numpy(resample_poly(sound, SAMPLE_RATE, rate).astype(np.float32))
    found = codec.analyse(wave)
    mean = found.shape[codec.gain_index(found.gain) > 4].mean(0)
    return mean - mean.mean()


def likeness(box: Voicebox, teacher: Teacher) -> dict[str, Any]:
    """Compare pitch and timbre of what is said with the references', in semitones and dB.

    Timbre is told by the mean spectral envelope: how often it is nearest to that of the own
    reference's speaker saying the same among all 13, and how far it is from it.
    """
    texts = lines("sentences.txt")[PITCH_TEXTS]
    originals = [
        torch.stack([timbre(teacher.say(text, speaker).sound, SAMPLE_RATE) for text in texts]).mean(
            0
        )
        for speaker in REFERENCES
    ]
    rows, right, distances = [], 0, []
    for number, speaker in enumerate(REFERENCES):
        reference = teacher.say(REFERENCE_TEXT, speaker).sound
        codes = box.encode(reference)
        spoken = [box.speak(text, codes) for text in texts]
        together = np.concatenate([said.sound for said in spoken])
        pitch, wanted = median_pitch(together, box.rate), median_pitch(reference, SAMPLE_RATE)
        sounds = torch.stack([timbre(said.sound, said.rate) for said in spoken]).mean(0)
        apart = torch.stack([(sounds - original).pow(2).mean().sqrt() for original in originals])
        right += int(apart.argmin()) == number
        distances.append(float(apart[number]))
        semitones = 12 * float(np.log2(pitch / wanted))
        rows.append(
            [speaker.variant, speaker.pitch, round(wanted), round(pitch), round(semitones, 2)]
        )
    apart_from = [abs(row[-1]) for row in rows]
    return {
        "references": rows,
        "semitones_median": float(np.median(apart_from)),
        "semitones_largest": float(np.max(apart_from)),
        "timbre_right": f"{right} of {len(REFERENCES)}",
        "timbre_distance_db": float(np.mean(distances)),
    }


def bundle_bytes(bundle: Path) -> int:
    return sum(path.stat().st_size for path in bundle.rglob("*") if path.is_file())


def evaluate(bundle: Path, parts: Sequence[str], judge_python: Path) -> Mapping[str, Any]:
    """Evaluate parts of what a bundle is worth: teacher, hearing, steadiness, likeness."""
    teacher, box = Teacher(), Voicebox(bundle)
    found: dict[str, Any] = {
        "bundle": box.bundle.bundle_id,
        "bytes": bundle_bytes(bundle),
        "load_cpu_seconds": box.load_seconds,
    }
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(judge_python, Path(folder))
        makers = {
            "teacher": lambda: teacher_scores(teacher, judge),
            "steadiness": lambda: steadiness(box, teacher),
            "likeness": lambda: likeness(box, teacher),
            "hearing": lambda: hearing_scores(box, judge),
        }
        for part in parts:
            found[part] = makers[part]()
            print(f"evaluate: {part}: {json.dumps(found[part])}", flush=True)
    return found
