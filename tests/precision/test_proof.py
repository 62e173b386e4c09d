"""Compiled graphs are believed only after both were run and compared."""

from dataclasses import replace

import numpy as np
import pytest

from wyoming_moss_nano.model.compiled import CannotCompileError, Compiled
from wyoming_moss_nano.model.compiler import arithmetic, transformer
from wyoming_moss_nano.model.compiler import compile as compiling
from wyoming_moss_nano.precision.proof import PROOF_FRAMES, Proof, prove

GOOD = Proof(
    voices=("anna",),
    frames=100,
    cosine=0.999,
    logit_error=1e-5,
    equal_frames=100,
    first_difference=-1,
    greedy_agreement=(0.9,) * 16,
    stop_agreement=1.0,
)
NOT_A_NUMBER = float("nan")


def test_fp32_makes_the_same_hundred_frames_with_the_same_logits(compiled):
    figures = compiled("fp32").figures

    assert figures["frames"] == PROOF_FRAMES == 100
    assert figures["equal_frames"] == 100
    assert figures["first_difference"] == -1
    assert figures["logit_error"] <= 1e-4
    assert figures["stop_agreement"] == 1.0
    assert set(figures["greedy_agreement"]) == {1.0}


def test_int8_stays_close_and_says_how_close(compiled):
    figures = compiled("int8").figures

    assert 0.98 <= figures["cosine"] < 1
    assert figures["first_difference"] >= 0
    assert figures["equal_frames"] < figures["frames"]
    assert all(0.5 < share <= 1 for share in figures["greedy_agreement"])


def test_every_voice_is_compared_on_frames_of_its_own(tiny_bundle, compiled):
    shares = []

    proof = prove(tiny_bundle, compiled("fp32"), tiny_bundle.builtin_voices, 1, shares.append)

    assert proof.voices == tuple(tiny_bundle.builtin_voices)
    assert proof.frames == proof.equal_frames == PROOF_FRAMES * len(tiny_bundle.builtin_voices)
    assert shares == sorted(shares)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
@pytest.mark.parametrize("kind", ["official", "random"])
def test_good_graphs_are_accepted(precision, kind):
    GOOD.check(precision, kind)


@pytest.mark.parametrize(
    ("precision", "kind", "figures", "says"),
    [
        ("fp32", "official", {"logit_error": 0.002}, "difference of logits is 0.002"),
        ("fp32", "random", {"logit_error": 0.002}, "difference of logits"),
        ("fp32", "official", {"logit_error": NOT_A_NUMBER}, "difference of logits"),
        ("int8", "official", {"cosine": 0.97}, "cosine of hidden states is 0.97.*0.98"),
        ("int8", "random", {"cosine": 0.97}, "cosine"),
        ("int8", "official", {"cosine": NOT_A_NUMBER}, "cosine"),
        ("int8", "official", {"greedy_agreement": (0.5,) * 16}, "likeliest code"),
        ("int8", "official", {"stop_agreement": 0.9}, "when to stop"),
    ],
)
def test_what_is_not_good_enough_is_refused_by_its_figure(precision, kind, figures, says):
    with pytest.raises(CannotCompileError, match=says):
        replace(GOOD, **figures).check(precision, kind)


@pytest.mark.parametrize("figures", [{"greedy_agreement": (0.1,) * 16}, {"stop_agreement": 0.5}])
def test_random_weights_are_judged_by_hidden_states_alone(figures):
    replace(GOOD, **figures).check("int8", "random")


# A compiler that goes wrong


def other_rotation(monkeypatch):
    monkeypatch.setattr(transformer, "_ROPE_BASE", 500.0)


def one_weight_changed(monkeypatch):
    read_local = compiling.read_local

    def changed(bundle):
        weights = read_local(bundle)
        heads = [np.array(head) for head in weights.audio_heads]
        heads[7][:, 3] *= 1.05
        return replace(weights, audio_heads=tuple(heads))

    monkeypatch.setattr(compiling, "read_local", changed)


def biases_swapped(monkeypatch):
    read_global = compiling.read_global

    def changed(bundle):
        weights = read_global(bundle)
        first, *rest = weights.transformer.blocks
        swapped = replace(
            first,
            attention_out=replace(first.attention_out, bias=first.mlp_out.bias),
            mlp_out=replace(first.mlp_out, bias=first.attention_out.bias),
        )
        blocks = replace(weights.transformer, blocks=(swapped, *rest))
        return replace(weights, transformer=blocks)

    monkeypatch.setattr(compiling, "read_global", changed)


def few_levels(monkeypatch):
    def coarse(weight):
        scale = np.maximum(np.abs(weight).max(axis=0), 1e-30) / np.float32(5)
        return np.rint(weight / scale).astype(np.int8), scale.astype(np.float32)

    monkeypatch.setattr(arithmetic, "quantized_columns", coarse)


@pytest.mark.parametrize(
    ("precision", "wrong"),
    [
        ("fp32", other_rotation),
        ("fp32", one_weight_changed),
        ("fp32", biases_swapped),
        ("int8", other_rotation),
        ("int8", few_levels),
    ],
)
def test_a_compiler_that_went_wrong_is_caught_and_leaves_nothing_behind(
    compile_here, tmp_path, monkeypatch, precision, wrong
):
    wrong(monkeypatch)

    with pytest.raises(CannotCompileError, match="is the limit"):
        compile_here(precision)

    left = [path.name for path in (tmp_path / "compiled").iterdir()]
    assert not any(name.endswith("-v1") or "unfinished" in name for name in left)
    assert any(name.endswith(".refused") for name in left)


def test_one_bit_less_for_activations_costs_little(
    tiny_bundle, compiled, references, tmp_path, monkeypatch
):
    """What processors get whose products overflow otherwise."""
    finer = compiled("int8").figures["cosine"]
    monkeypatch.setattr(compiling, "activation_levels", lambda: 63)
    compiling.compile_graphs(tiny_bundle, "int8", tmp_path)

    proof = prove(tiny_bundle, Compiled(tmp_path, "int8", {}), references, threads=1)

    assert 0.95 < proof.cosine < finer
