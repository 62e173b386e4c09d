"""The subcommand text, which shows how a text is read."""

import io
import json
import sys

import pytest

from wyoming_moss_nano import cli


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        status = cli.main(["text", "--model", "embedded", "--data-dir", str(tmp_path), *arguments])
        assert status == 0
        return capsys.readouterr().out

    return run


def test_a_person_sees_what_is_cleaned_spoken_and_cut(run):
    out = run("**Hello** there, it is 5 °C.")

    assert "cleaned  Hello there, it is 5 °C." in out
    assert "spoken   Hello there, it is five degrees Celsius." in out
    assert "tokens   0.00 s  Hello there, it is five degrees Celsius." in out


def test_a_program_gets_one_object(run):
    text = "<speak>It is 5% full. <break time='2s'/> The rest is air. That is all there is.</speak>"

    shown = json.loads(run("--json", text))

    assert list(shown) == ["cleaned", "spoken", "pieces"]
    assert shown["spoken"] == "It is five percent full. The rest is air. That is all there is."
    assert [(piece["text"], piece["pause_s"]) for piece in shown["pieces"]] == [
        ("It is five percent full.", 2.0),
        ("The rest is air.", 0.24),
        ("That is all there is.", 0.0),
    ]
    assert all(piece["tokens"] > 0 for piece in shown["pieces"])


@pytest.mark.parametrize(
    ("options", "spoken"),
    [
        (["--language", "de"], "fünf Prozent"),
        (["--language", "de-AT"], "fünf Prozent"),
        (["--language", "ja"], "5 %"),
        (["--no-normalize"], "5 %"),
        ([], "five percent"),
    ],
)
def test_rules_are_those_of_the_language(run, options, spoken):
    assert json.loads(run("--json", *options, "5 %"))["spoken"] == spoken


def test_the_users_words_are_applied(run, tmp_path):
    (tmp_path / "voices.yaml").write_text("pronounce: {en: {moss: mohs}}")

    assert json.loads(run("--json", "Ask MOSS now."))["spoken"] == "Ask mohs now."


def test_a_text_can_come_from_standard_input(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("- Milk\n- Bread\n"))

    assert json.loads(run("--json", "-"))["cleaned"] == "Milk Bread"


def test_silence_alone_is_a_piece_without_text(run):
    shown = json.loads(run("--json", "<speak><break time='1s'/></speak>"))

    assert shown["pieces"] == [{"text": "", "tokens": 0, "pause_s": 1.0}]
