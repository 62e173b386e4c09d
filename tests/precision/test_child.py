"""Work in a process of its own reports, fails in one line, dies, and is given up."""

import os
import signal
import threading
import time

import pytest

from wyoming_moss_nano.errors import BundleError
from wyoming_moss_nano.model.compiled import CannotCompileError
from wyoming_moss_nano.precision.child import run_in_child

# What the process does; it imports this module and finds them by name.


def report(path, on_progress):
    for percent in (0, 50, 100):
        on_progress(percent)
    path.write_text(f"{os.nice(0)} {os.getppid()}")


def refuse(on_progress):
    raise CannotCompileError("the graph is upside down")


def find_no_room(on_progress):
    raise OSError(28, "No space left on device")


def stumble(on_progress):
    raise KeyError("a bug")


def die(on_progress):
    os.kill(os.getpid(), signal.SIGKILL)


def take_for_ever(path, on_progress):
    path.write_text(str(os.getpid()))
    on_progress(0)
    while True:
        time.sleep(60)


def be_interrupted(path, on_progress):
    os.kill(os.getpid(), signal.SIGINT)
    path.write_text("went on")


def run(work, *arguments, cancelled=None, told=lambda percent: None):
    return run_in_child(work, arguments, told, cancelled or threading.Event())


def test_work_is_done_in_a_niced_process_and_tells_how_far_it_is(tmp_path):
    told = []

    assert run(report, tmp_path / "note", told=told.append)

    niceness, parent = map(int, (tmp_path / "note").read_text().split())
    assert niceness >= min(os.nice(0) + 10, 19)
    assert parent == os.getpid()
    assert told == [0, 50, 100]


@pytest.mark.parametrize(
    ("work", "error", "says"),
    [
        (refuse, CannotCompileError, "the graph is upside down"),
        (find_no_room, BundleError, "No space left on device"),
        (stumble, BundleError, "unexpectedly.*KeyError.*a bug"),
        (die, BundleError, "status -9; too little memory"),
    ],
)
def test_what_goes_wrong_there_is_one_error_here(work, error, says, capfd):
    with pytest.raises(error, match=says) as raised:
        run(work)

    assert type(raised.value) is error
    assert "Traceback" not in capfd.readouterr().err


def test_work_that_is_given_up_is_over(tmp_path):
    cancelled = threading.Event()

    assert not run(
        take_for_ever, tmp_path / "pid", cancelled=cancelled, told=lambda percent: cancelled.set()
    )

    number = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_an_interrupt_from_the_keyboard_is_for_whoever_waits_here(tmp_path, capfd):
    """The terminal sends it to both; the one that waits ends the other."""
    assert run(be_interrupted, tmp_path / "note")

    assert (tmp_path / "note").read_text() == "went on"
    assert capfd.readouterr().err == ""
