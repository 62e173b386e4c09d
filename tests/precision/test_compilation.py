"""Compiled graphs appear whole and proved, or not at all."""

import json
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from wyoming_moss_nano.errors import BundleError
from wyoming_moss_nano.model.compiled import (
    CannotCompileError,
    find_compiled,
    refusal,
)
from wyoming_moss_nano.precision import compilation

FILES = {"greedy_frame.onnx", "language.onnx", "proof.json", "sampled_frame.onnx", "weights.data"}


def names(folder):
    """Names in a folder, but for hidden files and the tables, whose numbers say nothing."""
    found = {path.name for path in folder.iterdir() if path.suffix != ".npy"}
    return {name for name in found if not name.startswith(".")}


def test_what_was_compiled_is_found_with_its_figures(compile_here, tiny_bundle, tmp_path):
    told = []

    made = compile_here(on_progress=told.append)

    found = find_compiled(tmp_path / "compiled", tiny_bundle, "fp32")
    assert found.folder == made.folder
    assert names(made.folder) == FILES
    assert found.figures == json.loads(json.dumps(dict(made.figures)))
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, 100)


def test_no_power_cut_leaves_a_folder_of_files_that_are_not_on_disk(compile_here, monkeypatch):
    synced = set()

    def noted(number):
        path = Path(f"/proc/self/fd/{number}").readlink()
        assert path.parent.name == ".unfinished"
        synced.add(path.name)

    monkeypatch.setattr("os.fsync", noted)

    compile_here()

    assert synced >= FILES


def test_what_is_there_is_not_compiled_again(compile_here, monkeypatch):
    first = compile_here()
    monkeypatch.setattr(compilation, "_compile", None)

    assert compile_here().folder == first.folder


def test_precisions_lie_side_by_side(compile_here, tmp_path):
    folders = {compile_here("fp32").folder, compile_here("int8").folder}

    assert names(tmp_path / "compiled") == {folder.name for folder in folders}


def test_older_graphs_go_once_newer_ones_are_proved(compile_here, tiny_bundle, tmp_path, caplog):
    caplog.set_level("INFO")
    folder = tmp_path / "compiled"
    older = [folder / name for name in ("aaaa-fp32-v1", f"{tiny_bundle.bundle_id}-fp32-v0")]
    kept = [folder / "aaaa-int8-v1"]
    for path in older + kept:
        path.mkdir(parents=True)
        (path / "proof.json").write_text("{}")
    (folder / f"{tiny_bundle.bundle_id}-fp32-v1.refused").write_text("it was too slow\n")

    made = compile_here()

    assert names(folder) == {made.folder.name, *(path.name for path in kept)}
    assert caplog.text.count("Removing") == len(older)


def test_older_graphs_stay_while_newer_ones_are_not_good_enough(
    compile_here, tmp_path, monkeypatch
):
    older = tmp_path / "compiled" / "aaaa-fp32-v1"
    older.mkdir(parents=True)
    monkeypatch.setattr("wyoming_moss_nano.precision.proof.MOST_LOGIT_ERROR", 0.0)

    with pytest.raises(CannotCompileError):
        compile_here()

    assert older.is_dir()


def test_a_refusal_is_remembered_for_its_bundle_and_precision(
    compile_here, tiny_bundle, tmp_path, monkeypatch
):
    folder = tmp_path / "compiled"
    monkeypatch.setattr("wyoming_moss_nano.precision.proof.MOST_LOGIT_ERROR", 0.0)

    with pytest.raises(CannotCompileError) as refused:
        compile_here()

    assert refusal(folder, tiny_bundle, "fp32") == str(refused.value)
    assert refusal(folder, tiny_bundle, "int8") == ""
    assert refusal(folder, replace(tiny_bundle, bundle_id="other"), "fp32") == ""


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_a_full_disk_is_told_before_anything_is_written(
    compile_here, tmp_path, monkeypatch, precision
):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage._replace(free=10_000_000))

    with pytest.raises(
        BundleError, match=rf"compiling to {precision} needs \d+ MB.*10 MB are free"
    ):
        compile_here(precision)

    assert names(tmp_path / "compiled") == set()
    assert not (tmp_path / "compiled" / ".unfinished").exists()


def test_what_an_earlier_attempt_left_is_no_reason_for_a_full_disk(
    compile_here, tmp_path, monkeypatch
):
    left = tmp_path / "compiled" / ".unfinished" / "weights.data"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(
        "shutil.disk_usage", lambda path: usage._replace(free=0 if left.exists() else 10**9)
    )

    assert names(compile_here().folder) == FILES


def test_a_folder_that_cannot_be_written_is_told(compile_here, tmp_path):
    (tmp_path / "compiled").write_text("a file is in the way")

    with pytest.raises(BundleError, match="cannot write below"):
        compile_here()


def proof_without(change):
    def damage(folder):
        proof = json.loads((folder / "proof.json").read_text())
        (folder / "proof.json").write_text(json.dumps(change(proof)))

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "proof.json").unlink(),
        lambda folder: (folder / "proof.json").write_bytes(b""),
        lambda folder: (folder / "proof.json").write_bytes(bytes(100)),
        proof_without(list),
        proof_without(lambda proof: {}),
        lambda folder: (folder / "language.onnx").unlink(),
        lambda folder: (folder / "weights.data").write_bytes(b"cut off"),
    ],
)
def test_graphs_that_were_damaged_are_told_and_compiled_again(
    compile_here, tiny_bundle, tmp_path, caplog, damage
):
    whole = compile_here().folder
    damage(whole)

    assert find_compiled(tmp_path / "compiled", tiny_bundle, "fp32") is None
    assert f"{whole} are damaged" in caplog.text
    assert compile_here().folder == whole
    assert find_compiled(tmp_path / "compiled", tiny_bundle, "fp32") is not None


# Interrupted, and two at once


COMPILE = """
import os, signal, sys
from pathlib import Path
from wyoming_moss_nano.model.bundle import read_bundle
from wyoming_moss_nano.precision.compilation import compile_bundle

bundle = read_bundle(Path(sys.argv[1]))
die_at = int(sys.argv[3])

def on_progress(percent):
    if percent >= die_at:
        os.kill(os.getpid(), signal.SIGKILL)

voices = {"alder": bundle.builtin_voices["alder"]}
compile_bundle(bundle, "fp32", Path(sys.argv[2]), voices, threads=1, on_progress=on_progress)
"""


def start_compiling(bundle_folder, folder, die_at=1000):
    arguments = [sys.executable, "-c", COMPILE, bundle_folder, folder, str(die_at)]
    return subprocess.Popen(list(map(str, arguments)))


@pytest.mark.parametrize("percent", [0, 20, 100])
def test_what_a_killed_process_leaves_is_never_taken_for_compiled(
    compile_here, tiny_folder, tiny_bundle, tmp_path, percent
):
    folder = tmp_path / "compiled"

    assert start_compiling(tiny_folder, folder, die_at=percent).wait() == -9

    assert (folder / ".unfinished").is_dir()
    assert find_compiled(folder, tiny_bundle, "fp32") is None
    assert names(compile_here().folder) == FILES
    assert not (folder / ".unfinished").exists()


def test_two_processes_at_once_compile_once(compile_here, tiny_folder, tmp_path):
    folder = tmp_path / "compiled"
    processes = [start_compiling(tiny_folder, folder) for _ in range(2)]

    assert [process.wait() for process in processes] == [0, 0]

    assert len(names(folder)) == 1
    assert names(compile_here().folder) == FILES


def test_who_waits_for_another_gets_what_it_made(compile_here):
    begun, made = threading.Event(), []

    def told(percent):
        begun.set()

    first = threading.Thread(target=lambda: made.append(compile_here(on_progress=told)))
    first.start()
    begun.wait()
    made.append(compile_here(on_progress=lambda percent: pytest.fail("it compiles again")))
    first.join()

    assert made[0].folder == made[1].folder
