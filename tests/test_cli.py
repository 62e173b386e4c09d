"""The command line as a person uses it, run in this process; tests/e2e runs it as installed."""

import io
import os
import subprocess
import sys
import wave

import numpy as np
import pytest

from wyoming_moss_nano import __version__, cli


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder; return its status, output and error text."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        try:
            status = cli.main(list(arguments))
        except SystemExit as leaving:
            status = leaving.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def read(path):
    with wave.open(str(path)) as file:
        pcm = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return file.getparams(), pcm.reshape(-1, file.getnchannels())


def test_say_writes_48_khz_16_bit_mono(command, tmp_path):
    status, out, err = command("say", "Dinner is ready.", "-o", "dinner.wav")

    params, pcm = read(tmp_path / "dinner.wav")
    assert (status, err) == (0, "")
    assert out.startswith("dinner.wav: ")
    assert "embedded" in out
    assert (params.framerate, params.sampwidth, params.nchannels) == (48000, 2, 1)
    assert 0.5 < params.nframes / 48000 < 5
    assert np.abs(pcm).max() > 1000


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Dinner is ready.", "dinner-is-ready.wav"),
        ("../../etc/passwd", "etc-passwd.wav"),
        ("a" * 300, "a" * 40 + ".wav"),
        ("...", "speech.wav"),
        ("--", "speech.wav"),
    ],
)
def test_without_o_the_file_is_named_after_the_text(command, tmp_path, text, name):
    status, _, _ = command("say", "--max-frames", "20", "--", text)

    assert status == 0
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [name]


def test_a_dash_reads_standard_input(command, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("Good night.\n"))

    assert command("say", "-", "-o", "piped.wav")[0] == 0
    assert command("say", "Good night.", "-o", "typed.wav")[0] == 0

    assert (tmp_path / "piped.wav").read_bytes() == (tmp_path / "typed.wav").read_bytes()


def test_every_option_of_say_has_an_effect(command, tmp_path, tiny_folder):
    def spoken(*options):
        assert command("say", "Good night to you. Sleep 8 h now.", "-o", "x.wav", *options)[0] == 0
        return read(tmp_path / "x.wav")[1]

    plain = spoken()
    assert spoken("--seed", "7").tobytes() != plain.tobytes()
    assert spoken("--voice", "Max").tobytes() != plain.tobytes()
    assert spoken("--sample-mode", "greedy").tobytes() != plain.tobytes()
    assert spoken("--stereo").shape[1] == 2
    assert len(spoken("--max-frames", "3")) < len(plain)
    assert np.abs(spoken("--gain-db", "-20")).max() < 0.2 * np.abs(plain).max()
    assert len(spoken("--sentence-silence", "1.24")) == len(plain) + 48000
    assert len(spoken("--trailing-silence", "1.2")) == len(plain) + 48000
    assert spoken("--no-normalize").tobytes() != plain.tobytes()
    assert spoken("--threads", "2").shape == plain.shape
    assert spoken("--model", str(tiny_folder)).shape != plain.shape
    np.testing.assert_array_equal(spoken("--data-dir", str(tmp_path / "else")), plain)


def test_an_option_can_come_from_the_environment(command, tmp_path, monkeypatch):
    monkeypatch.setenv("MOSS_NANO_STEREO", "1")

    command("say", "Good night.", "-o", "x.wav")

    assert read(tmp_path / "x.wav")[0].nchannels == 2


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["say", "hi", "--seed", "x"], "--seed must be a whole number"),
        (["say", "hi", "--sample-mode", "loud"], "--sample-mode must be one of"),
        (["say", "hi", "-o", "no/such/folder/x.wav"], "there is no folder"),
        (["say", "hi", "--max-frames", "0"], "max frames must be from 1"),
        (["say"], "usage"),
        (["sing"], "usage"),
        (["model"], "usage"),
        (["serve", "--uri", "tcp://nowhere"], "--uri must be tcp://HOST:PORT"),
        (["serve", "--uri", "tcp://localhost:70000"], "--uri must be tcp://HOST:PORT"),
        (["--max-streams", "0"], "--max-streams must be a whole number from 1"),
        (["--zeroconf-host", "here"], "--zeroconf-host must be an IP address"),
        (["--zeroconf", "a.b"], "--zeroconf must be a name"),
        (["--log-format", "%(nope)s"], "--log-format must be a format"),
        (["--voices", "missing.yaml"], "there is no voices file missing.yaml"),
    ],
)
def test_usage_mistakes_exit_with_2(command, arguments, expected):
    status, out, err = command(*arguments)

    assert status == 2
    assert expected in err
    assert "Traceback" not in err
    assert not out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["say", "hi", "--voice", "nobody"], "there is no voice 'nobody'"),
        (["say", "hi", "--model", "/no/such/model"], "/no/such/model is no folder"),
        (["say", "hi", "--model", "official"], "the official model is not complete"),
        (["model", "show", "--model", "official"], "the official model is not complete"),
        (["--default-voice", "nobody"], "there is no voice 'nobody'"),
        (["probe", "tcp://127.0.0.1:9"], "tcp://127.0.0.1:9 does not answer"),
        (["probe", "nonsense"], "nonsense does not answer"),
    ],
)
def test_failures_exit_with_1_and_one_line(command, tmp_path, arguments, expected):
    status, out, err = command(*arguments)

    assert status == 1
    assert err.startswith("wyoming-moss-nano: ")
    assert expected in err
    assert err.count("\n") == 1
    assert not out
    assert not list(tmp_path.glob("*.wav"))


def test_speaking_opens_no_socket(command, monkeypatch):
    def denied(*_, **__):
        pytest.fail("a socket was opened")

    monkeypatch.setattr("socket.socket", denied)

    assert command("say", "Good night.", "-o", "x.wav")[0] == 0


def test_a_failure_while_speaking_leaves_no_file(command, tmp_path, monkeypatch):
    from wyoming_moss_nano.engine import speech
    from wyoming_moss_nano.errors import SpeechError

    def fail(self):
        raise SpeechError("no sound today")

    monkeypatch.setattr(speech.UtteranceSound, "finish", fail)
    status, _, err = command("say", "Good night.", "-o", "x.wav")

    assert (status, err) == (1, "wyoming-moss-nano: no sound today\n")
    assert not list(tmp_path.glob("*x.wav*"))


def test_a_written_file_has_the_rights_of_any_new_file(command, tmp_path):
    (tmp_path / "reference").touch()

    command("say", "Good night.", "-o", "x.wav")

    assert (tmp_path / "x.wav").stat().st_mode == (tmp_path / "reference").stat().st_mode


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["你好"], "knows none of the 3 characters"),
        (["Good night.", "--max-frames", "9"], "ran into the limit on frames"),
    ],
)
def test_speech_that_is_not_all_of_the_text_is_a_warning(tmp_path, arguments, expected):
    done = subprocess.run(
        [sys.executable, "-m", "wyoming_moss_nano", "say", *arguments, "-o", "x.wav"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stderr.startswith("WARNING ")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "x.wav").exists()


def test_model_show_tells_what_speaks(command, embedded_bundle):
    status, out, _ = command("model", "show")

    assert status == 0
    assert embedded_bundle.bundle_id in out
    assert embedded_bundle.codec_id in out
    for name in ("robin", "wren"):
        assert f"voice {name}" in out


def test_model_random_writes_a_bundle_that_speaks(command, tmp_path):
    status, out, _ = command("model", "random", "made")
    assert (status, out) == (0, "made\n")

    assert command("say", "Good night.", "--model", "made", "-o", "x.wav")[0] == 0
    assert "random" in command("model", "show", "--model", "made")[1]


def test_model_random_builds_once_into_the_users_cache(command, tmp_path):
    _, first, _ = command("model", "random")
    folder = tmp_path / "cache" / "wyoming-moss-nano" / "random-tiny-0"
    assert first == f"{folder}\n"
    stamp = next(folder.glob("*/*.data")).stat().st_mtime_ns

    command("model", "random")

    assert next(folder.glob("*/*.data")).stat().st_mtime_ns == stamp


def test_help_teaches_and_the_version_is_told(command):
    status, out, _ = command("say", "--help")
    assert status == 0
    assert "wyoming-moss-nano say" in out
    assert "MOSS_NANO_" in out
    assert "default: 1234" in out

    assert command("--version")[:2] == (0, f"{__version__}\n")


def test_numpy_has_one_thread_in_the_program_and_is_left_alone_in_others():
    look = "import os, wyoming_moss_nano.cli; print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    inside = "import sys, wyoming_moss_nano.__main__ as m; sys.argv[1:] = ['--version']\n"
    inside += "try: m.run()\nexcept SystemExit: " + look
    environment = {k: v for k, v in os.environ.items() if "NUM_THREADS" not in k}

    def printed(code, **extra):
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment | extra,
        )
        return run.stdout.splitlines()[-1]

    assert printed(look) == "None"
    assert printed(inside) == "1"
    assert printed(inside, OPENBLAS_NUM_THREADS="3") == "3"
