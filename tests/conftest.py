"""Bundles and engines every test can use: the embedded one, and the tiny random one made here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from wyoming_moss_nano.embedded import BUNDLE_FOLDER
from wyoming_moss_nano.engine.speech import Engine
from wyoming_moss_nano.model.bundle import Bundle, read_bundle
from wyoming_moss_nano.model.random_bundle import TINY, build_random_bundle


@pytest.fixture(autouse=True)
def _no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_random_bundle(tmp_path_factory.mktemp("tiny"), TINY)


@pytest.fixture(scope="session")
def tiny_bundle(tiny_folder: Path) -> Bundle:
    return read_bundle(tiny_folder)


@pytest.fixture(scope="session")
def tiny_engine(tiny_bundle: Bundle) -> Engine:
    return Engine.load(tiny_bundle, threads=1)


@pytest.fixture(scope="session")
def embedded_bundle() -> Bundle:
    return read_bundle(BUNDLE_FOLDER)


@pytest.fixture(scope="session")
def embedded_engine(embedded_bundle: Bundle) -> Engine:
    return Engine.load(embedded_bundle, threads=1)
