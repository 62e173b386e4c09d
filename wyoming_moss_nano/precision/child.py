"""Work in a process of its own: it may take long, take memory and be ended at any time."""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Final

from ..errors import BundleError, MossNanoError
from ..model.compiled import CannotCompileError

# Others go first: compiling may be slow, an announcement may not.
_NICENESS: Final = 10
_BEAT_SECONDS: Final = 0.2

# Does the work: told where to report per cent.
Work = Callable[[Callable[[int], None]], None]


def run_in_child(
    work: Callable[..., None],
    arguments: tuple[Any, ...],
    on_progress: Callable[[int], None],
    cancelled: threading.Event,
) -> bool:
    """Run ``work(*arguments, on_progress)`` in a niced process and wait for its end.

    Args:
        work: a function of a module, which the process imports.
        arguments: what can be pickled.
        on_progress: told how many per cent are done.
        cancelled: when set, the process is ended within a second.

    Returns:
        Whether the work is done; not so only where it was cancelled.

    Raises:
        CannotCompileError: the work raised it.
        BundleError: the work raised another error of ours, or the process died.
    """
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(
        target=_in_child, args=(work, arguments, sending), name="compile", daemon=True
    )
    process.start()
    sending.close()
    try:
        return _follow(receiving, on_progress, cancelled)
    except EOFError:
        process.join()
        raise BundleError(
            f"the compiling process ended with status {process.exitcode}; too little memory is the "
            "usual reason"
        ) from None
    finally:
        process.terminate()
        process.join()
        receiving.close()


def _follow(
    receiving: Connection, on_progress: Callable[[int], None], cancelled: threading.Event
) -> bool:
    while not cancelled.is_set():
        if not receiving.poll(_BEAT_SECONDS):
            continue
        match receiving.recv():
            case int(percent):
                on_progress(percent)
            case "done":
                return True
            case ("cannot", str(reason)):
                raise CannotCompileError(reason)
            case ("failed", str(reason)):
                raise BundleError(reason)
    return False


def _in_child(work: Callable[..., None], arguments: tuple[Any, ...], sending: Connection) -> None:
    os.nice(_NICENESS)
    # a terminal interrupts both processes; the one that waits for this one ends it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # a parent that is gone wants nothing more
    with contextlib.suppress(BrokenPipeError):
        try:
            work(*arguments, sending.send)
            sending.send("done")
        except CannotCompileError as error:
            sending.send(("cannot", str(error)))
        except (MossNanoError, OSError) as error:
            sending.send(("failed", str(error)))
        except Exception as error:  # noqa: BLE001 - a bug is told where there is a log
            sending.send(("failed", f"compiling failed unexpectedly: {error!r}"))
