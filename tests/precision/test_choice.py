"""Real time with margin first, then fidelity; and what was chosen once is kept."""

import json

import pytest

from wyoming_moss_nano.engine.speech import Engine
from wyoming_moss_nano.precision.choice import Choice, Choices, real_time_factor, recommended

CHOICE = Choice("int8", {"fp32": 0.9, "int8": 0.3})


@pytest.mark.parametrize(
    ("factors", "precision"),
    [
        ({"exact": 0.4, "fp32": 0.3, "int8": 0.1}, "exact"),
        ({"exact": 0.6, "fp32": 0.4, "int8": 0.1}, "fp32"),
        ({"exact": 2.0, "fp32": 0.9, "int8": 0.5}, "int8"),
        ({"exact": 2.0, "fp32": 0.5, "int8": 0.2}, "fp32"),
        ({"exact": 9.0, "fp32": 4.0, "int8": 2.0}, "int8"),
        ({"exact": 9.0, "fp32": 1.0, "int8": 2.0}, "fp32"),
        ({"fp32": 0.3}, "fp32"),
        ({"int8": 3.0}, "int8"),
    ],
)
def test_the_most_faithful_that_is_fast_enough_is_recommended(factors, precision):
    assert recommended(factors) == precision


def test_the_real_time_factor_of_thirty_frames_is_measured(tiny_engine):
    reference = tiny_engine.bundle.builtin_voices["alder"]

    assert 0 < real_time_factor(tiny_engine, reference) < 100


def test_nothing_is_left_open_after_measuring(new_compiled_engine):
    engine = new_compiled_engine("int8")

    real_time_factor(engine, engine.bundle.builtin_voices["alder"])

    assert engine._generator._transformer._memory._lengths == {}


def test_a_choice_is_kept_for_its_bundle_and_threads(tmp_path, tiny_bundle, embedded_bundle):
    Choices(tmp_path, threads=2).remember(tiny_bundle, CHOICE)
    Choices(tmp_path, threads=2).remember(embedded_bundle, Choice("fp32", {"fp32": 0.1}))

    assert Choices(tmp_path, threads=2).of(tiny_bundle) == CHOICE
    assert Choices(tmp_path, threads=2).of(embedded_bundle).precision == "fp32"
    assert Choices(tmp_path, threads=1).of(tiny_bundle) is None


def test_a_newer_compiler_means_a_new_choice(tmp_path, tiny_bundle, monkeypatch):
    Choices(tmp_path, threads=2).remember(tiny_bundle, CHOICE)
    monkeypatch.setattr("wyoming_moss_nano.precision.choice.COMPILER_VERSION", 99)

    assert Choices(tmp_path, threads=2).of(tiny_bundle) is None


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "\0\0", '"int8"'])
def test_a_file_that_is_damaged_costs_another_measurement(tmp_path, tiny_bundle, content):
    (tmp_path / "choice.json").write_text(content)
    choices = Choices(tmp_path, threads=2)

    assert choices.of(tiny_bundle) is None
    choices.remember(tiny_bundle, CHOICE)
    assert choices.of(tiny_bundle) == CHOICE


@pytest.mark.parametrize(
    "entry",
    [
        None,
        7,
        "int8",
        ["int8"],
        {},
        {"precision": "int8"},
        {"precision": "int8", "factors": 7},
        {"precision": "loud", "factors": {}},
    ],
)
def test_an_entry_that_is_damaged_costs_another_measurement(tmp_path, tiny_bundle, entry):
    choices = Choices(tmp_path, threads=2)
    choices.remember(tiny_bundle, CHOICE)
    kept = json.loads((tmp_path / "choice.json").read_text())
    (tmp_path / "choice.json").write_text(json.dumps(dict.fromkeys(kept, entry)))

    assert choices.of(tiny_bundle) is None


def test_engines_of_every_precision_can_be_measured(tiny_bundle, new_compiled_engine):
    reference = tiny_bundle.builtin_voices["alder"]
    engines = [Engine.load(tiny_bundle, 1), *map(new_compiled_engine, ("fp32", "int8"))]

    factors = {engine.precision: real_time_factor(engine, reference) for engine in engines}

    assert list(factors) == ["exact", "fp32", "int8"]
