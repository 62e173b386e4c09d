"""Which precision a command speaks with, and the subcommand that compiles: model compile."""

import argparse
import importlib.util
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..bench.endless import EndlessEngine
from ..engine.codec import Codec
from ..engine.prompt import Codes
from ..engine.speech import Engine
from ..errors import BundleError, MossNanoError, SettingsError
from ..model.bundle import Bundle
from ..model.compiled import (
    COMPILED_PRECISIONS,
    CannotCompileError,
    Compiled,
    find_compiled,
    refusal,
)
from ..model.sessions import Sessions
from ..precision.child import run_in_child
from ..precision.choice import (
    MOST_REAL_TIME_FACTOR,
    Choice,
    Choices,
    real_time_factor,
    recommended,
)
from ..precision.compilation import compile_bundle, remove_compiled
from ..settings import Settings
from ..voices.enrol import Encoder
from .workspace import Workspace, tell

_LOGGER = logging.getLogger(__name__)

# Enrolled voices that a proof uses beside the default one; each takes as long as all else.
_MOST_VOICES: Final = 3
_PERCENT_PER_LINE: Final = 20

_OnProgress = Callable[[int], None]


@dataclass(frozen=True)
class Precision:
    """What the settings say about precision, for one bundle on this machine."""

    workspace: Workspace
    bundle: Bundle

    @property
    def compiled_dir(self) -> Path:
        """Where compiled graphs lie."""
        return self._settings.data_dir / "compiled"

    def compiled(self) -> Compiled | None:
        """Return the compiled graphs to speak with, if there are any yet; None means exact."""
        precision = self._chosen()
        if precision not in COMPILED_PRECISIONS:
            return None
        return find_compiled(self.compiled_dir, self.bundle, precision)

    def engine(self) -> Engine:
        """Return an engine of what there is now."""
        return Engine.load(self.bundle, self._settings.threads, self.compiled())

    def obstacle(self) -> str:
        """Return why compiling is not possible, or an empty text."""
        if not self.bundle.rules.prefix_reuse:
            return "this model is built in another way than the published one"
        if importlib.util.find_spec("onnx") is None:
            return "the package onnx is not installed: pip install 'wyoming-moss-nano[all]'"
        return ""

    def missing(self) -> bool:
        """Whether graphs should be compiled first."""
        return self._incomplete() and not self._reason()

    def tell_reason(self) -> None:
        """Log why there are no compiled graphs, where the settings ask for them."""
        if not self._incomplete():
            return
        wanted = self._settings.precision
        # a model of our own that is small enough needs no compiling
        quiet = wanted == "auto" and not self.bundle.rules.prefix_reuse
        _LOGGER.log(
            logging.DEBUG if quiet else logging.WARNING,
            "Speaking with --precision exact, not %s: %s",
            wanted,
            self._reason(),
        )

    def compile(self, on_progress: _OnProgress, cancelled: threading.Event) -> bool:
        """Compile in a process of its own; return whether that was done and not cancelled.

        Raises:
            BundleError: it cannot be compiled, or there is no room.
        """
        level = logging.getLogger().level
        return run_in_child(_compile, (self._settings, level), on_progress, cancelled)

    @property
    def _settings(self) -> Settings:
        return self.workspace.settings

    def _incomplete(self) -> bool:
        return self._chosen() != "exact" and self.compiled() is None

    def _reason(self) -> str:
        wanted = self._settings.precision
        first = "fp32" if wanted == "auto" else wanted
        return self.obstacle() or refusal(self.compiled_dir, self.bundle, first)

    def _chosen(self) -> str:
        if self._settings.precision != "auto":
            return self._settings.precision
        choice = Choices(self.compiled_dir, self._settings.threads).of(self.bundle)
        return choice.precision if choice is not None else ""


def engine_for(workspace: Workspace, bundle: Bundle) -> Engine:
    """Return an engine for a command: compiled first, if a compiled precision is asked for by name.

    Under ``auto`` compiled graphs are used if they are there.
    """
    precision = Precision(workspace, bundle)
    if workspace.settings.precision == "auto":
        return precision.engine()
    if precision.missing():
        try:
            precision.compile(ProgressLines(), threading.Event())
        except BundleError as error:
            _LOGGER.warning("Speaking with --precision exact: %s", error)
    else:
        precision.tell_reason()
    return precision.engine()


def compile_model(_parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Compile the chosen model, and print what proving it found."""
    settings = workspace.settings
    if settings.precision == "exact":
        raise SettingsError(
            "--precision exact is the published graphs: there is nothing to compile"
        )
    precision = Precision(workspace, workspace.bundle())
    obstacle = precision.obstacle()
    if not precision.bundle.rules.prefix_reuse or "not installed" in obstacle:
        raise CannotCompileError(f"nothing can be compiled: {obstacle}")
    precision.compile(ProgressLines(), threading.Event())
    compiled = precision.compiled()
    if compiled is None:
        raise CannotCompileError("compiling left no graphs behind: the log says why")
    tell(f"{compiled.folder}: {compiled.precision}")
    tell(figures_text(compiled))


def figures_text(compiled: Compiled) -> str:
    """Return what proving compiled graphs found, in words."""
    figures = compiled.figures
    agreement = figures["greedy_agreement"]
    first = figures["first_difference"]
    return (
        f"proved on {figures['frames']} frames of {', '.join(figures['voices'])}: "
        f"cosine of hidden states {figures['cosine']:.5f}, "
        f"largest difference of logits {figures['logit_error']:.1e}, "
        f"{figures['equal_frames']} sampled frames equal"
        + (f" (first difference: frame {first})" if first >= 0 else "")
        + f", likeliest code equal {sum(agreement) / len(agreement):.1%}, "
        f"stop decision equal {figures['stop_agreement']:.1%}"
    )


class ProgressLines:
    """Writes a line to the log for every twenty per cent."""

    def __init__(self) -> None:
        self._next = 0

    def __call__(self, percent: int) -> None:
        """Take note of per cent."""
        if percent >= self._next:
            self._next = percent - percent % _PERCENT_PER_LINE + _PERCENT_PER_LINE
            _LOGGER.info("Compiling the model for this machine: %d %%", percent)


def _compile(settings: Settings, log_level: int, on_progress: _OnProgress) -> None:
    """Do the work of ``Precision.compile``, in its process, which logs as the one before does."""
    logging.basicConfig(level=log_level, format=settings.log_format)
    workspace = Workspace(settings)
    bundle = workspace.bundle()
    references = _references(workspace, bundle)
    compiled_dir = Precision(workspace, bundle).compiled_dir
    threads = settings.threads

    def compile_to(precision: str, first: int, last: int) -> Compiled:
        return compile_bundle(
            bundle,
            precision,
            compiled_dir,
            references,
            threads=threads,
            on_progress=lambda percent: on_progress(first + (last - first) * percent // 100),
        )

    if settings.precision != "auto":
        compile_to(settings.precision, 0, 100)
        return
    reference = next(iter(references.values()))

    def measure(compiled: Compiled) -> float:
        return real_time_factor(EndlessEngine(bundle, threads, compiled), reference)

    factors = {"fp32": measure(compile_to("fp32", 0, 50))}
    if factors["fp32"] > MOST_REAL_TIME_FACTOR:
        try:
            factors["int8"] = measure(compile_to("int8", 50, 100))
        except CannotCompileError as error:
            _LOGGER.warning("Keeping precision fp32, though it is slow here: %s", error)
    choice = Choice(recommended(factors), factors)
    Choices(compiled_dir, threads).remember(bundle, choice)
    for precision in factors:
        if precision != choice.precision:
            remove_compiled(compiled_dir, bundle, precision)


def _references(workspace: Workspace, bundle: Bundle) -> dict[str, Codes]:
    """Return the codes of the default voice and of enrolled ones, for the proof."""
    voices = workspace.voices(bundle)
    encoder = Encoder(bundle, Codec(bundle, Sessions(bundle, workspace.settings.threads)))
    references = {voices.default: voices.get(voices.default, encoder).codes}
    for name in voices.enrolled_names():
        if len(references) < _MOST_VOICES:
            try:
                references[name] = voices.get(name, encoder).codes
            except MossNanoError as error:
                _LOGGER.debug("Voice %s is not used for the proof: %s", name, error)
    return references
