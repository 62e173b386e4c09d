"""Training: steps counted, never time, so that a pause does no harm; resumable at checkpoints."""

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from .batches import NO_TARGET, Collator, Corpus, Plan, endless_batches, plan, sizes
from .model import Batch, Model, Size

PEAK_RATE: Final = 1.2e-3
WARM_UP: Final = 100  # steps
HELD_BACK: Final = 0.3  # share of the steps before the rate falls
LAST_RATE: Final = 0.02  # of the peak
WEIGHT_DECAY: Final = 0.02
LARGEST_GRADIENT: Final = 1.0
LOCAL_SHARE: Final = 0.4  # of the frames whose codes are predicted in a step
PREFIX_SWAPPED: Final = 0.05  # of the envelope codes a frame's later codes follow
WEIGHTS: Final = {"envelope": 1.0, "tone": 1.0, "stop": 0.5, "step": 0.4, "sound": 0.4}
VALIDATION_SPEAKER: Final = 50  # every 50th speaker is only listened to
VALIDATION_BATCHES: Final = 6
REPORT_EVERY, SAVE_EVERY = 50, 100  # steps
SEED: Final = 0


@dataclass
class Course:
    """Where training stands, and where it keeps its checkpoints."""

    checkpoint: Path
    steps: int
    inventory: dict[str, int]
    step: int = 0
    seconds: float = 0.0


def learning_rate(step: int, steps: int) -> float:
    """Return the rate of a step: up, level, and down in a line."""
    left = (1 - step / steps) / (1 - HELD_BACK)
    return PEAK_RATE * min(1.0, (step + 1) / WARM_UP) * max(LAST_RATE, min(1.0, left))


def optimiser_of(model: Model) -> torch.optim.AdamW:
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": WEIGHT_DECAY},
        {"params": vectors, "weight_decay": 0},
    ]
    return torch.optim.AdamW(groups, lr=PEAK_RATE, betas=(0.9, 0.97), foreach=True)


def losses(
    model: Model, batch: Batch, collator: Collator, chance: np.random.Generator, *, spoilt: bool
) -> dict[str, Tensor]:
    """Return the cross entropy of each thing predicted."""
    hidden, encoding = model(batch)
    predicting = batch.stop != NO_TARGET
    states, stop, step = hidden[predicting], batch.stop[predicting], batch.step[predicting]
    frames = batch.frame[predicting]
    heard = torch.from_numpy(chance.random(len(states)) < (LOCAL_SHARE if spoilt else 1.0))
    local, wanted, ends = states[heard], frames[heard], stop[heard]
    prefix = wanted.clamp_min(0)
    if spoilt:
        swapped = collator.swap(prefix[:, 0::2].numpy(), PREFIX_SWAPPED, chance)
        prefix = prefix.clone()
        prefix[:, 0::2] = torch.from_numpy(swapped)
    stopping, envelopes, tones = model.local(local, prefix)
    sounds = batch.sound[:, batch.text_rows]
    letters = sounds != NO_TARGET
    # a last row has no frame after it: its targets say so and are left out
    return {
        "envelope": cross_entropy(envelopes.flatten(0, 1), wanted[:, 0::2].flatten()),
        "tone": cross_entropy(tones.flatten(0, 1), wanted[:, 1::2].flatten()),
        "stop": cross_entropy(stopping, ends),
        "step": cross_entropy(model.step(states), step),
        "sound": cross_entropy(model.sound(encoding[letters]), sounds[letters]),
    }


def cross_entropy(logits: Tensor, wanted: Tensor) -> Tensor:
    return F.cross_entropy(logits.float(), wanted, ignore_index=NO_TARGET)


def validate(model: Model, collator: Collator, batches: Sequence[Plan]) -> dict[str, float]:
    """Return the losses on speakers that are not trained on."""
    chance = np.random.default_rng(SEED)
    model.eval()
    found = []
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for planned in batches:
            batch = collator.collate(planned, chance, spoilt=False)
            parts = losses(model, batch, collator, chance, spoilt=False)
            found.append({name: value.item() for name, value in parts.items()})
    model.train()
    return {name: float(np.mean([part[name] for part in found])) for name in WEIGHTS}


def save(course: Course, model: Model, optimiser: torch.optim.Optimizer) -> None:
    """Write a checkpoint, whole or not at all."""
    partial = course.checkpoint.with_suffix(".part")
    state: dict[str, Any] = {
        "model": model.state_dict(),
        "optimiser": optimiser.state_dict(),
        "size": {field.name: getattr(model.size, field.name) for field in fields(Size)},
        "inventory": course.inventory,
        "step": course.step,
        "seconds": course.seconds,
    }
    torch.save(state, partial)
    partial.rename(course.checkpoint)


def resume(course: Course, model: Model, optimiser: torch.optim.Optimizer) -> None:
    """Take up training where the checkpoint left it, if there is one."""
    if course.checkpoint.exists():
        state = torch.load(course.checkpoint)
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        course.step, course.seconds = state["step"], state["seconds"]
        print(f"train: going on at step {course.step}", flush=True)


def train(course: Course, model: Model, corpus: Corpus, codebook: Tensor) -> None:
    """Train to the end of the course."""
    collator = Collator(corpus, codebook)
    learnt, kept = split(corpus)
    checks = plan(corpus, kept, np.random.default_rng(SEED))[:VALIDATION_BATCHES]
    optimiser = optimiser_of(model)
    resume(course, model, optimiser)
    print(f"train: {sizes(corpus)}, {course.steps} steps", flush=True)
    batches = itertools.islice(endless_batches(corpus, learnt, SEED), course.step, course.steps)
    recent: dict[str, float] = {}
    for planned in batches:
        began = time.process_time()
        chance = np.random.default_rng([SEED, course.step])
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(course.step, course.steps)
        batch = collator.collate(planned, chance, spoilt=True)
        with torch.autocast("cpu", torch.bfloat16):
            parts = losses(model, batch, collator, chance, spoilt=True)
        total = sum(WEIGHTS[name] * part for name, part in parts.items())
        optimiser.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
        optimiser.step()
        course.step += 1
        course.seconds += time.process_time() - began
        for name, part in parts.items():
            recent[name] = 0.95 * recent.get(name, part.item()) + 0.05 * part.item()
        if course.step % REPORT_EVERY == 0 or course.step in (5, 10, 20):
            report(course, recent)
        if course.step % SAVE_EVERY == 0 or course.step == course.steps:
            save(course, model, optimiser)
            if course.step % (4 * SAVE_EVERY) == 0 or course.step == course.steps:
                report(course, validate(model, collator, checks), "unheard speakers")


def split(corpus: Corpus) -> tuple[list[int], list[int]]:
    """Return the numbers of the utterances to learn and of those to validate with."""
    kept = [speaker % VALIDATION_SPEAKER == VALIDATION_SPEAKER - 1 for speaker in speakers(corpus)]
    numbers = range(len(kept))
    return [n for n in numbers if not kept[n]], [n for n in numbers if kept[n]]


def speakers(corpus: Corpus) -> Iterator[int]:
    return (utterance.speaker for utterance in corpus.utterances)


def report(course: Course, found: dict[str, float], what: str = "") -> None:
    """Print where training stands."""
    values = ", ".join(f"{name} {value:.4f}" for name, value in found.items())
    clock, minutes = time.strftime("%H:%M:%S"), course.seconds / 60
    where = f"step {course.step} of {course.steps}, {minutes:.1f} CPU min"
    print(f"train: {clock} {where}, {values} {what}", flush=True)
