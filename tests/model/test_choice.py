from pathlib import Path

import pytest

from wyoming_moss_nano.embedded import BUNDLE_FOLDER
from wyoming_moss_nano.errors import BundleError
from wyoming_moss_nano.model.choice import choose_bundle
from wyoming_moss_nano.model.manifest import PINNED_FILES


@pytest.fixture
def official(tmp_path):
    """Files of the official names and sizes; sparse, so that they take no room."""
    for pinned in PINNED_FILES:
        path = tmp_path / "models" / pinned.directory / pinned.file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.truncate(pinned.bytes)
    return tmp_path


def test_auto_is_the_embedded_bundle_where_nothing_was_brought(tmp_path, caplog):
    caplog.set_level("INFO")

    assert choose_bundle("auto", tmp_path) == BUNDLE_FOLDER
    assert "embedded" in caplog.text


def test_auto_is_the_official_bundle_once_it_is_complete(official):
    assert choose_bundle("auto", official) == official / "models"


@pytest.mark.parametrize("pinned", PINNED_FILES[::5], ids=lambda pinned: pinned.file)
def test_a_file_too_few_or_too_short_is_not_complete(official, pinned):
    path = official / "models" / pinned.directory / pinned.file
    with path.open("r+b") as file:
        file.truncate(pinned.bytes - 1)

    assert choose_bundle("auto", official) == BUNDLE_FOLDER
    with pytest.raises(BundleError, match=rf"1 of 18 files .*{pinned.file}"):
        choose_bundle("official", official)


def test_official_where_nothing_lies_says_where_it_belongs_and_what_else_speaks(tmp_path):
    with pytest.raises(BundleError, match=r"models.*18 of 18.*--model embedded"):
        choose_bundle("official", tmp_path)


@pytest.mark.parametrize("model", ["auto", "official", "embedded"])
def test_choosing_touches_no_network_and_reads_no_weights(official, monkeypatch, model):
    def denied(*_, **__):
        pytest.fail("a socket was opened, or a file's content read")

    monkeypatch.setattr("socket.socket", denied)
    monkeypatch.setattr(Path, "open", denied)
    monkeypatch.setattr(Path, "read_bytes", denied)

    assert choose_bundle(model, official)


def test_a_path_is_taken_as_it_is(tmp_path):
    assert choose_bundle(str(tmp_path), Path("unused")) == tmp_path
