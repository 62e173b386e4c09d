"""Compiling a model and speaking with it, on the command line."""

import json
import logging
import shutil
import sys

import numpy as np
import onnx
import pytest

from wyoming_moss_nano import cli
from wyoming_moss_nano.commands import precision as commands
from wyoming_moss_nano.commands.workspace import Workspace
from wyoming_moss_nano.model.bundle import read_bundle
from wyoming_moss_nano.model.compiled import CannotCompileError
from wyoming_moss_nano.precision.choice import Choice, Choices
from wyoming_moss_nano.settings import Settings


@pytest.fixture
def command(tmp_path, monkeypatch, capfd):
    """Run a command in an empty folder; return its status, output and error text."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        try:
            status = cli.main([*map(str, arguments), "--data-dir", str(tmp_path / "data")])
        except SystemExit as leaving:
            status = leaving.code
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return run


def compiled(tmp_path):
    """The names of folders of compiled graphs, without the ids of their bundles."""
    folder = tmp_path / "data" / "compiled"
    return sorted(path.name.partition("-")[2] for path in folder.glob("*-v*/"))


def test_a_model_is_compiled_proved_and_shown(command, tmp_path, tiny_folder):
    status, out, err = command("model", "compile", "--model", tiny_folder, "--precision", "int8")

    assert status == 0, err
    assert "-int8-v1: int8" in out
    assert "proved on 100 frames of alder: cosine of hidden states 0.99" in out
    assert compiled(tmp_path) == ["int8-v1"]
    shown = dict(
        line.split("  ", 1)
        for line in command("model", "show", "--model", tiny_folder, "--precision", "int8")[
            1
        ].splitlines()
    )
    assert shown["precision"].strip() == "int8"
    assert out.splitlines()[1] in shown["compiled int8"]


def test_auto_keeps_the_precision_it_chooses(command, tmp_path, tiny_folder):
    assert command("model", "compile", "--model", tiny_folder)[0] == 0

    kept = json.loads((tmp_path / "data" / "compiled" / "choice.json").read_text())
    ((_, choice),) = kept.items()
    assert compiled(tmp_path) == [f"{choice['precision']}-v1"]
    out = command("model", "show", "--model", tiny_folder)[1]
    assert f"precision       {choice['precision']}\n" in out


def test_a_model_that_needs_no_compiling_is_refused_in_one_line(command):
    status, out, err = command("model", "compile", "--model", "embedded")

    assert (status, out) == (1, "")
    assert err.startswith("wyoming-moss-nano: nothing can be compiled: this model is built")
    assert len(err.splitlines()) == 1


def test_exact_graphs_are_not_compiled(command, tiny_folder):
    status, _, err = command("model", "compile", "--model", tiny_folder, "--precision", "exact")

    assert status == 2
    assert "--precision exact is the published graphs" in err


def test_a_model_of_other_graphs_is_refused_in_one_line_that_names_the_graph(
    command, tmp_path, tiny_folder
):
    folder = tmp_path / "bundle"
    shutil.copytree(tiny_folder, folder)
    path = read_bundle(folder).tts_graphs.paths["prefill"]
    model = onnx.load(path, load_external_data=False)
    for node in model.graph.node:
        if node.op_type == "MatMul":
            node.op_type = "Gemm"
    path.write_bytes(model.SerializeToString())

    status, out, err = command(
        "model", "compile", "--model", folder, "--precision", "fp32", "--log-level", "warning"
    )

    assert (status, out) == (1, "")
    assert err.startswith("wyoming-moss-nano: moss_tts_prefill.onnx cannot be compiled: ")
    assert len(err.splitlines()) == 1
    assert compiled(tmp_path) == []


def test_say_compiles_when_a_precision_is_asked_for_and_only_once(
    command, tmp_path, tiny_folder, caplog
):
    caplog.set_level("INFO")

    def say(name, precision):
        options = ("--model", tiny_folder, "--precision", precision, "-o", name)
        status, _, err = command("say", "Good night.", *options)
        assert status == 0, err
        return np.frombuffer((tmp_path / name).read_bytes()[44:], "<i2")

    first, again = (say(name, "fp32") for name in ("first.wav", "again.wav"))
    exact = say("exact.wav", "exact")

    assert caplog.text.count("Compiling the model for this machine: 0 %") == 1
    assert compiled(tmp_path) == ["fp32-v1"]
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, exact)


@pytest.mark.parametrize(("precision", "warnings"), [("auto", 0), ("exact", 0), ("fp32", 1)])
def test_the_embedded_model_speaks_exactly_and_says_so_where_it_was_asked_for_more(
    command, tmp_path, caplog, precision, warnings
):
    assert command("say", "Hi.", "--model", "embedded", "--precision", precision)[0] == 0

    assert [record.levelname for record in caplog.records].count("WARNING") == warnings
    assert compiled(tmp_path) == []


def test_damaged_compiled_graphs_are_told_and_compiled_again(
    command, tmp_path, tiny_folder, caplog
):
    options = ("--model", tiny_folder, "--precision", "int8")
    command("model", "compile", *options)
    (folder,) = (tmp_path / "data" / "compiled").glob("*-v1")
    (folder / "weights.data").write_bytes(b"cut off")

    status, out, _ = command("model", "show", *options)
    assert status == 0
    assert "precision       exact\n" in out
    assert f"The compiled graphs in {folder} are damaged and not used" in caplog.text

    assert command("model", "compile", *options)[0] == 0
    assert "precision       int8\n" in command("model", "show", *options)[1]


# What auto makes of what it measures


def compile_here(workspace):
    """Do in this process what is done in one of its own."""
    commands._compile(workspace.settings, logging.WARNING, lambda percent: None)


@pytest.fixture
def workspace(tmp_path, tiny_folder):
    def settings(precision="auto"):
        return Workspace(
            Settings(model=str(tiny_folder), data_dir=tmp_path / "data", precision=precision)
        )

    return settings


@pytest.fixture
def measured(monkeypatch):
    """Make measuring find what a test says, by precision."""
    factors = {}
    monkeypatch.setattr(commands, "real_time_factor", lambda engine, _: factors[engine.precision])
    return factors.update


@pytest.mark.parametrize(
    ("factors", "chosen"),
    [
        ({"fp32": 0.2}, "fp32"),
        ({"fp32": 0.7, "int8": 0.3}, "int8"),
        ({"fp32": 3.0, "int8": 1.0}, "int8"),
        ({"fp32": 0.8, "int8": 0.9}, "fp32"),
    ],
)
def test_auto_compiles_no_more_than_it_needs_and_remembers(
    workspace, measured, tmp_path, tiny_bundle, factors, chosen
):
    measured(factors)
    precision = commands.Precision(workspace(), tiny_bundle)
    assert precision.missing()

    compile_here(workspace())

    assert compiled(tmp_path) == [f"{chosen}-v1"]
    assert precision.engine().precision == chosen
    assert not precision.missing()


def test_where_int8_is_not_good_enough_auto_keeps_fp32_though_it_is_slow(
    workspace, measured, tmp_path, tiny_bundle, monkeypatch, caplog
):
    measured({"fp32": 0.8})
    monkeypatch.setattr("wyoming_moss_nano.precision.proof.LEAST_COSINE", 2.0)

    compile_here(workspace())

    precision = commands.Precision(workspace(), tiny_bundle)
    assert precision.engine().precision == "fp32"
    assert not precision.missing()
    assert compiled(tmp_path) == ["fp32-v1"]
    assert "Keeping precision fp32, though it is slow here: cosine" in caplog.text


def test_where_fp32_is_not_good_enough_auto_gives_up_and_remembers(
    workspace, tiny_bundle, monkeypatch, caplog
):
    monkeypatch.setattr("wyoming_moss_nano.precision.proof.MOST_LOGIT_ERROR", 0.0)

    with pytest.raises(CannotCompileError):
        compile_here(workspace())

    precision = commands.Precision(workspace(), tiny_bundle)
    assert not precision.missing()
    assert precision.engine().precision == "exact"
    (warning,) = (record for record in caplog.records if record.levelname == "WARNING")
    assert "--precision exact, not auto: largest difference of logits" in warning.getMessage()


def test_where_exact_was_chosen_nothing_is_missing(workspace, tmp_path, tiny_bundle):
    settings = workspace().settings
    (tmp_path / "data" / "compiled").mkdir(parents=True)
    choices = Choices(tmp_path / "data" / "compiled", settings.threads)
    choices.remember(tiny_bundle, Choice("exact", {"exact": 0.3}))

    precision = commands.Precision(workspace(), tiny_bundle)

    assert not precision.missing()
    assert precision.engine().precision == "exact"


def test_a_choice_whose_graphs_are_gone_means_compiling_again(workspace, measured, tiny_bundle):
    measured({"fp32": 0.2})
    compile_here(workspace())
    precision = commands.Precision(workspace(), tiny_bundle)
    shutil.rmtree(precision.compiled().folder)

    assert precision.missing()


def test_without_the_package_onnx_compiling_says_how_to_get_it(command, tiny_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)

    status, _, err = command("model", "compile", "--model", tiny_folder)

    assert status == 1
    assert "pip install 'wyoming-moss-nano[all]'" in err
    assert len(err.splitlines()) == 1
