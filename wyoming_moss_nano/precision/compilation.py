"""Compiling a bundle: into a folder of its own, proved, and only then where it is looked for."""

import fcntl
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ..engine.prompt import Codes
from ..errors import BundleError
from ..model.bundle import Bundle
from ..model.compiled import (
    PROOF_FILE,
    CannotCompileError,
    Compiled,
    compiled_folder,
    file_sizes,
    find_compiled,
    forget_refusal,
    remember_refusal,
)
from .proof import prove

_LOGGER = logging.getLogger(__name__)

_LOCK: Final = ".lock"
_UNFINISHED: Final = ".unfinished"
# Bytes of disk that compiling leaves to others.
_RESERVE: Final = 32 << 20
# Compiled files by the size of what they are made of; embeddings in 16 bits weigh most in int8.
_SHARE_OF_SOURCE: Final = {"fp32": 0.85, "int8": 0.3}

# Told how many per cent are done.
OnProgress = Callable[[int], None]


def compile_bundle(
    bundle: Bundle,
    precision: str,
    compiled_dir: Path,
    references: Mapping[str, Codes],
    *,
    threads: int,
    on_progress: OnProgress = lambda _: None,
) -> Compiled:
    """Compile a bundle and prove it, unless that has been done; then older graphs go.

    Args:
        bundle: what is compiled; its files stay as they are.
        precision: one of COMPILED_PRECISIONS.
        compiled_dir: where compiled graphs of all bundles lie.
        references: codes [frames, codebooks] of the voices that the proof uses.
        threads: of each graph, while proving.
        on_progress: told how far it is.

    Raises:
        CannotCompileError: the bundle is built in a way the compiler does not know, or what came
            out is not good enough. That is remembered.
        BundleError: nothing can be written, or the disk is full.
        SpeechError: a graph failed.
    """
    with _alone(compiled_dir):
        found = find_compiled(compiled_dir, bundle, precision)
        if found is not None:
            return found
        unfinished = compiled_dir / _UNFINISHED
        shutil.rmtree(unfinished, ignore_errors=True)
        _check_disk(bundle, precision, compiled_dir)
        unfinished.mkdir()
        try:
            return _compile(bundle, precision, unfinished, references, threads, on_progress)
        except CannotCompileError as error:
            remember_refusal(compiled_dir, bundle, precision, str(error))
            raise
        except OSError as error:
            raise BundleError(f"cannot write below {compiled_dir}: {error.strerror}") from error
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _compile(
    bundle: Bundle,
    precision: str,
    unfinished: Path,
    references: Mapping[str, Codes],
    threads: int,
    on_progress: OnProgress,
) -> Compiled:
    from ..model.compiler.compile import compile_graphs  # noqa: PLC0415 - needs the extra

    started = time.monotonic()
    on_progress(0)
    compile_graphs(bundle, precision, unfinished)
    on_progress(20)
    candidate = Compiled(unfinished, precision, {})
    proof = prove(
        bundle, candidate, references, threads, lambda share: on_progress(20 + int(80 * share))
    )
    proof.check(precision, bundle.rules.kind)
    on_progress(100)
    figures = {
        **proof.figures(),
        "seconds": round(time.monotonic() - started, 1),
        "files": file_sizes(unfinished),
    }
    (unfinished / PROOF_FILE).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    _sync(unfinished)
    remove_compiled(unfinished.parent, bundle, precision)
    folder = compiled_folder(unfinished.parent, bundle, precision)
    unfinished.rename(folder)
    forget_refusal(unfinished.parent, bundle, precision)
    _remove_older(folder, precision)
    return Compiled(folder, precision, figures)


def _sync(folder: Path) -> None:
    """Put all files of a folder on disk, so that no power cut leaves its name without them."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def remove_compiled(compiled_dir: Path, bundle: Bundle, precision: str) -> None:
    """Remove the compiled graphs of a bundle, if they are there."""
    shutil.rmtree(compiled_folder(compiled_dir, bundle, precision), ignore_errors=True)


def _remove_older(folder: Path, precision: str) -> None:
    """Remove graphs of the same precision that this compile replaces."""
    for other in folder.parent.glob(f"*-{precision}-v*/"):
        if other != folder:
            _LOGGER.info("Removing the compiled graphs in %s, which are replaced", other)
            shutil.rmtree(other, ignore_errors=True)


def _check_disk(bundle: Bundle, precision: str, compiled_dir: Path) -> None:
    source = sum(path.stat().st_size for path in bundle.tts_graphs.files())
    needed = int(source * _SHARE_OF_SOURCE[precision]) + _RESERVE
    free = shutil.disk_usage(compiled_dir).free
    if free < needed:
        raise BundleError(
            f"compiling to {precision} needs {needed / 1e6:.0f} MB of disk in {compiled_dir}, and "
            f"{free / 1e6:.0f} MB are free"
        )


@contextmanager
def _alone(compiled_dir: Path) -> Iterator[None]:
    """Wait until no other process compiles here."""
    try:
        compiled_dir.mkdir(parents=True, exist_ok=True)
        lock = (compiled_dir / _LOCK).open("w")
    except OSError as error:
        raise BundleError(f"cannot write below {compiled_dir}: {error.strerror}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
