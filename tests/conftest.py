"""Bundles and engines every test can use: the embedded one, and the tiny random one made here."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from wyoming_moss_nano.embedded import BUNDLE_FOLDER
from wyoming_moss_nano.engine.speech import Engine
from wyoming_moss_nano.model.bundle import Bundle, read_bundle
from wyoming_moss_nano.model.compiled import Compiled
from wyoming_moss_nano.model.random_bundle import EXPORTER, TINY, build_random_bundle
from wyoming_moss_nano.precision.compilation import compile_bundle


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
def exporter_bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The tiny bundle, its graphs written as the publisher's exporter writes them."""
    folder = tmp_path_factory.mktemp("exporter")
    return read_bundle(build_random_bundle(folder, TINY, habits=EXPORTER))


@pytest.fixture(scope="session")
def compiled_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(scope="session")
def compiled(tiny_bundle: Bundle, compiled_dir: Path) -> Callable[[str], Compiled]:
    """The tiny bundle's compiled graphs by precision, compiled and proved once."""
    references = {"alder": tiny_bundle.builtin_voices["alder"]}

    def of(precision: str) -> Compiled:
        return compile_bundle(tiny_bundle, precision, compiled_dir, references, threads=1)

    return of


@pytest.fixture(scope="session")
def new_compiled_engine(
    tiny_bundle: Bundle, compiled: Callable[[str], Compiled]
) -> Callable[[str], Engine]:
    """Open an engine of one's own that speaks with the tiny bundle's compiled graphs."""

    def of(precision: str) -> Engine:
        return Engine.load(tiny_bundle, 1, compiled(precision))

    return of


@pytest.fixture(scope="session")
def compiled_engine(new_compiled_engine: Callable[[str], Engine]) -> Callable[[str], Engine]:
    """The engine of a precision that tests share, as loading its graphs takes a while."""
    return cache(new_compiled_engine)


@pytest.fixture(scope="session")
def tiny_engine(tiny_bundle: Bundle) -> Engine:
    return Engine.load(tiny_bundle, threads=1)


@pytest.fixture(scope="session")
def embedded_bundle() -> Bundle:
    return read_bundle(BUNDLE_FOLDER)


@pytest.fixture(scope="session")
def embedded_engine(embedded_bundle: Bundle) -> Engine:
    return Engine.load(embedded_bundle, threads=1)
