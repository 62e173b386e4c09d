"""The commands about the official model's files, run as a user runs them."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hub import Hub, Manner
from wyoming_moss_nano.model.manifest import PINNED_FILES
from wyoming_moss_nano.model.verify import place_of

NOWHERE = {"HF_ENDPOINT": "http://127.0.0.1:1", "no_proxy": "*", "HF_HUB_OFFLINE": "0"}


@pytest.fixture
def data(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def model(data, cli):
    """Run ``model COMMAND`` on a data folder; without a hub, unless one is named."""

    def run(*arguments, **environment):
        return cli(
            "model", *arguments, "--data-dir", data,
            env=os.environ | NOWHERE | environment, text=True,
        )  # fmt: skip

    return run


@pytest.fixture
def official():
    """Write files of the official names and sizes, all zeros; sparse, so they take no room."""

    def write(models: Path, files=PINNED_FILES):
        for pinned in files:
            path = place_of(models, pinned)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.truncate(pinned.bytes)

    return write


def test_fetch_does_nothing_where_all_is_there(model, official, data):
    official(data / "models")

    done = model("fetch", HF_HUB_OFFLINE="1")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{data}/models: the official model is complete, 18 files, 763 MB\n"
    assert not (data / "models" / ".partial").exists()


def test_fetch_says_in_one_line_that_it_was_told_to_stay_offline(model, data):
    done = model("fetch", HF_HUB_OFFLINE="1")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "wyoming-moss-nano: HF_HUB_OFFLINE is set, so nothing is fetched: unset it, or bring the "
        "files with model fetch --from DIR\n"
    )
    assert not (data / "models").exists()


def test_fetch_says_in_one_line_that_there_is_no_network(model):
    done = model("fetch", "--log-level", "warning")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("wyoming-moss-nano: 127.0.0.1 cannot be reached (")
    assert done.stderr.count("\n") == 1


def test_fetch_asks_the_hub_for_the_pinned_revision(model, data):
    with Hub(data, ()) as hub:
        done = model("fetch", HF_ENDPOINT=hub.url)

    first = PINNED_FILES[0]
    assert done.returncode == 1
    assert [asked.path for asked in hub.asked] == [
        f"/{first.repository}/resolve/{first.revision}/{first.file}"
    ]
    assert f"answers 404 for {first.repository}/{first.file}: check HF_ENDPOINT" in done.stderr


def test_fetch_from_a_folder_takes_nothing_else_than_the_published_files(model, official, data):
    official(data / "copied")

    done = model("fetch", "--from", data / "copied")

    assert done.returncode == 1
    assert f"{PINNED_FILES[0].file} has the right size, but not the published" in done.stderr
    assert not list((data / "models").glob("*/*.md"))


def test_fetch_from_a_folder_that_lacks_files_names_the_first(model, data):
    done = model("fetch", "--from", data)

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "wyoming-moss-nano: 18 of 18 files are still missing, and not in "
        f"{data} with the right size: the first is MOSS-TTS-Nano-100M-ONNX/README.md"
    )


def test_verify_names_every_file_that_differs(model, official, data):
    official(data / "models", PINNED_FILES[:3])

    done = model("verify")

    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert len(lines) == 18
    assert [line.partition(" ")[2] for line in lines[2:4]] == [
        "has the right size, but not the published content",
        "is missing",
    ]
    assert "18 of 18 files in " in done.stderr
    assert "model fetch --check" in done.stderr


def test_remove_frees_the_disk_and_leaves_what_is_not_ours(model, official, data):
    official(data / "models")
    (data / "compiled").mkdir()
    (data / "voices.yaml").touch()

    assert "763 MB" in model("remove").stdout
    assert {path.name for path in data.iterdir()} == {"compiled", "voices.yaml"}

    assert model("remove", "--compiled").returncode == 0
    assert [path.name for path in data.iterdir()] == ["voices.yaml"]


def test_a_person_at_a_terminal_sees_a_bar_and_a_clean_last_line(data):
    readme = PINNED_FILES[0]
    path = place_of(data / "hub", readme)
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(readme.bytes))
    leader, follower = pty.openpty()
    with Hub(data / "hub", (readme,)) as hub:
        hub.manner = Manner(block=1000, pace=0.05)
        fetch = subprocess.Popen(
            [sys.executable, "-m", "wyoming_moss_nano", "model", "fetch", "--data-dir", data],
            env=os.environ | NOWHERE | {"HF_ENDPOINT": hub.url}, stderr=follower,
        )  # fmt: skip
        assert fetch.wait(30) == 1
    os.close(follower)
    shown = os.read(leader, 1 << 16).decode()
    os.close(leader)

    assert "\r\x1b[K[" in shown
    assert f"0 of 763 MB  0.0 MB/s  {readme.file}" in shown
    last = shown.splitlines()[-1]
    assert last.startswith(("\x1b[K", "wyoming-moss-nano: "))
    assert "does not give the published file" in last
