"""What compiling is told here: the tiny bundle, and one of its voices to prove it with."""

from collections.abc import Callable

import pytest

from wyoming_moss_nano.precision.compilation import compile_bundle


@pytest.fixture
def references(tiny_bundle):
    return {"alder": tiny_bundle.builtin_voices["alder"]}


@pytest.fixture
def compile_here(tiny_bundle, tmp_path, references, monkeypatch) -> Callable:
    """Compile the tiny bundle into a folder of one's own, proved on few frames."""
    monkeypatch.setattr("wyoming_moss_nano.precision.proof.PROOF_FRAMES", 10)

    def run(precision="fp32", bundle=tiny_bundle, folder=tmp_path / "compiled", **more):
        return compile_bundle(bundle, precision, folder, references, threads=1, **more)

    return run
