"""The pipeline: python -m training STEP... --work DIR. Each step goes on where it was left."""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from . import codebook as codebooks
from . import evaluate as evaluation
from .alignment import align_corpus, read_aligned, write_aligned
from .batches import Corpus
from .corpus import make_corpus
from .export import write_graphs
from .graphs import Sampling
from .manifest import write_manifest
from .model import Model, Size
from .noise import measure_noise
from .teacher import Teacher
from .texts import Sentences
from .train import Course, train
from .words import read_words


@dataclass(frozen=True)
class Work:
    """The work folder and how much work there is to be."""

    folder: Path
    bundle: Path
    speakers: int
    sentences: int
    steps: int
    start: Path | None

    @property
    def corpus(self) -> Path:
        return self.folder / "corpus"

    @property
    def aligned(self) -> Path:
        return self.folder / "aligned.npz"

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    def codebook(self) -> Tensor:
        """Return the codebook that the first step made."""
        found: Tensor = torch.load(self.folder / "codebook.pt")
        return found

    def beginning(self) -> dict[str, Any] | None:
        """Return the checkpoint to begin with, if one is named."""
        found: dict[str, Any] | None = torch.load(self.start) if self.start else None
        return found


def codebook(work: Work) -> None:
    """Make the codebook of spectral envelopes."""
    path = work.folder / "codebook.pt"
    if not path.exists():
        shapes = codebooks.envelopes(Teacher(), Sentences(read_words(), codebooks.SEED))
        beginning = work.beginning()
        start = beginning["codebook"] if beginning else None
        torch.save(codebooks.train_codebook(shapes, start), path)


def corpus(work: Work) -> None:
    """Let every speaker speak."""
    make_corpus(work.corpus, work.codebook(), work.speakers, work.sentences, processes=2)


def align(work: Work) -> None:
    """Align letters and frames."""
    if not work.aligned.exists():
        beginning = work.beginning()
        inventory = dict(beginning["inventory"]) if beginning else {}
        write_aligned(work.aligned, align_corpus(work.corpus, inventory), inventory)


def learn(work: Work) -> None:
    """Train the model."""
    utterances, inventory = read_aligned(work.aligned)
    torch.manual_seed(0)
    model = Model(Size(), work.codebook())
    if beginning := work.beginning():
        model.load_state_dict(beginning["model"])
        model.follow(work.codebook() - beginning["codebook"])
    course = Course(work.checkpoint, work.steps, inventory)
    train(course, model, Corpus(utterances), work.codebook())


def noise(work: Work) -> None:
    """Measure how much of each codeword is noise."""
    path = work.folder / "noise.pt"
    if not path.exists():
        sentences = Sentences(read_words(), codebooks.SEED)
        torch.save(measure_noise(Teacher(), sentences, work.codebook()), path)


def export(work: Work) -> None:
    """Write the bundle."""
    model = Model(Size(), work.codebook())
    model.load_state_dict(torch.load(work.checkpoint)["model"])
    shares, sampling = torch.load(work.folder / "noise.pt"), Sampling()
    write_graphs(work.bundle, model, work.codebook(), shares, sampling)
    write_manifest(work.bundle, Teacher(), sampling)


def evaluate(work: Work) -> None:
    """Measure what the bundle is worth."""
    found = evaluation.evaluate(work.bundle, evaluation.PARTS, evaluation.install_judge())
    text = json.dumps(found, indent=1) + "\n"
    (work.folder / "evaluation.json").write_text(text, encoding="utf-8")


STEPS: Final[dict[str, Callable[[Work], None]]] = {
    "codebook": codebook,
    "corpus": corpus,
    "align": align,
    "train": learn,
    "noise": noise,
    "export": export,
    "evaluate": evaluate,
}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="training/run", description=__doc__)
    parser.add_argument("steps", nargs="*", choices=[*STEPS, []], help="default: all, in order")
    parser.add_argument("--work", type=Path, required=True, help="folder for all that is made")
    parser.add_argument("--bundle", type=Path, help="where the bundle goes; default: in --work")
    parser.add_argument("--speakers", type=int, default=400)
    parser.add_argument("--sentences", type=int, default=100, help="of each speaker")
    parser.add_argument("--training-steps", type=int, default=6000)
    parser.add_argument("--start", type=Path, help="a checkpoint to begin with")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    arguments.work.mkdir(parents=True, exist_ok=True)
    work = Work(
        arguments.work,
        arguments.bundle or arguments.work / "bundle",
        arguments.speakers,
        arguments.sentences,
        arguments.training_steps,
        arguments.start,
    )
    for name in arguments.steps or STEPS:
        began = time.time()
        print(f"== {name}: {STEPS[name].__doc__}", flush=True)
        STEPS[name](work)
        took = time.time() - began
        with (work.folder / "times.txt").open("a", encoding="utf-8") as times:
            times.write(f"{time.strftime('%F %T')} {name} {took:.0f} s\n")
        print(f"== {name}: done in {took:.0f} s", flush=True)


if __name__ == "__main__":
    main()
