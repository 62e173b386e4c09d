"""The commands about voices as a person uses them, run in this process."""

import json
import logging
import os
import resource
import shutil
import stat
import subprocess
import sys
import time
import wave

import numpy as np
import pytest
import soundfile
import soxr

from wyoming_moss_nano import cli
from wyoming_moss_nano.commands import voice as voice_commands
from wyoming_moss_nano.embedded import REFERENCES_FOLDER
from wyoming_moss_nano.errors import VoiceError
from wyoming_moss_nano.voices.loudness import loudness
from wyoming_moss_nano.voices.recording import read_recording
from wyoming_moss_nano.voices.voice_file import read_voice

RATE = 48000
WREN = str(REFERENCES_FOLDER / "wren.flac")
LARK = str(REFERENCES_FOLDER / "lark.flac")
AGREED = ("--authorized-by", "Anna Berg", "--statement", "I agree to announcements.")


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder; return its status, output and error text."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as leaving:
            status = leaving.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.fixture
def voice(command, tiny_folder):
    """Run a voice command on the tiny model."""

    def run(name, *arguments):
        return command("voice", name, *arguments, "--model", tiny_folder, "--data-dir", "kept")

    return run


@pytest.fixture
def folder(tmp_path):
    """Where the voices of these tests are kept."""
    return tmp_path / "kept" / "voices"


@pytest.fixture(scope="module")
def added(tmp_path_factory, tiny_folder):
    """The files that adding a voice leaves."""
    kept = tmp_path_factory.mktemp("added")
    arguments = ["voice", "add", "anna", WREN, *AGREED, "--language", "en,de"]
    assert cli.main([*arguments, "--model", str(tiny_folder), "--data-dir", str(kept)]) == 0
    return kept / "voices"


@pytest.fixture
def anna(added, folder):
    """The file of a voice that was added."""
    shutil.copytree(added, folder)
    return folder / "anna.voice.json"


def files_of(folder):
    """Return every file's name with its content."""
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def speech(rate=RATE):
    sound, recorded_rate = soundfile.read(WREN, dtype="float32")
    return soxr.resample(sound, recorded_rate, rate)


def bursts(seconds):
    """Return noise that swells for 0.4 s and rests for 0.2 s, as syllables do."""
    samples = np.random.default_rng(0).normal(0, 0.1, round(seconds * 16000))
    return np.where(np.arange(len(samples)) / 16000 % 0.6 < 0.4, samples, samples * 0.003)


def heard(path):
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


def assert_fails(answer, status, *expected):
    """Check a failure: its status, nothing on standard output, and one line that says why."""
    assert answer[0] == status
    assert answer[1] == ""
    assert answer[2].startswith("wyoming-moss-nano: ")
    assert answer[2].count("\n") == 1
    for words in expected:
        assert words in answer[2]


class Terminal:
    """Standard input with a person before it, who types one answer or ends the input."""

    def __init__(self, answer):
        self.answer = answer

    def isatty(self):
        return True

    def readline(self):
        return self.answer


# add


def test_add_keeps_the_voice_and_its_recording_for_their_owner_only(voice, folder):
    mask = os.umask(0)
    try:
        status, out, err = voice(
            "add", "anna", WREN, *AGREED, "--language", "en, DE", "--description", "Anna, warm"
        )
    finally:
        os.umask(mask)

    assert (status, err) == (0, "")
    assert "voice anna" in out
    assert "-20 LUFS" in out
    assert set(files_of(folder)) == {"anna.voice.json", "anna.flac"}
    assert mode_of(folder / "anna.voice.json") == mode_of(folder / "anna.flac") == 0o600
    kept = read_voice(folder / "anna.voice.json")
    assert (kept.name, kept.languages, kept.description) == ("anna", ("en", "de"), "Anna, warm")
    assert kept.authorization.by == "Anna Berg"
    assert kept.authorization.statement == "I agree to announcements."
    assert kept.authorization.at
    info = soundfile.info(folder / "anna.flac")
    assert (info.samplerate, info.channels, info.subtype) == (48000, 2, "PCM_16")
    assert loudness(read_recording(folder / "anna.flac", RATE, 2).sound) == pytest.approx(
        -20, abs=0.05
    )


def test_add_without_keeping_the_recording(voice, folder):
    assert voice("add", "anna", WREN, *AGREED, "--no-keep-recording")[0] == 0

    assert set(files_of(folder)) == {"anna.voice.json"}
    assert "not kept" in voice("show", "anna")[1]


@pytest.mark.parametrize(
    ("file_format", "rate"), [("WAV", 8000), ("OGG", 44100), ("MP3", 44100), ("FLAC", 96000)]
)
def test_add_reads_other_formats_and_names_with_spaces(voice, folder, tmp_path, file_format, rate):
    if not soundfile.check_format(file_format):
        pytest.skip(f"this libsndfile writes no {file_format}")
    path = tmp_path / f"Änna Berg – 安娜.{file_format.lower()}"
    soundfile.write(path, speech(rate), rate, format=file_format)

    status, _, err = voice("add", "anna", path.name, *AGREED)

    assert (status, err) == (0, "")
    assert read_voice(folder / "anna.voice.json").seconds == pytest.approx(4.67, abs=0.2)


@pytest.mark.parametrize(
    "options",
    [(), AGREED[:2], AGREED[2:], (*AGREED, "--best", "long"), (*AGREED, "--nope")],
    ids=["none", "no statement", "nobody", "best is no number", "unknown option"],
)
def test_add_without_authorisation_is_a_usage_mistake(voice, folder, options):
    status, out, err = voice("add", "anna", WREN, *options)

    assert (status, out) == (2, "")
    assert "usage" in err
    assert not folder.exists()


@pytest.mark.parametrize(("by", "statement"), [("", "yes"), ("Anna", " "), ("\t", "\n")])
def test_add_with_a_blank_authorisation_fails(voice, folder, by, statement):
    answer = voice("add", "anna", WREN, "--authorized-by", by, "--statement", statement)

    assert_fails(answer, 1, "say who authorised its use")
    assert not folder.exists()


@pytest.mark.parametrize("name", ["Anna", "an na", "änna", "../anna", "_a", "a" * 65, "a.b", ""])
def test_add_refuses_what_is_no_name(voice, folder, name):
    assert_fails(voice("add", name, WREN, *AGREED), 1, "cannot be a voice's name")
    assert not folder.exists()


@pytest.mark.parametrize("name", ["anna", "anna-de", "wren", "alder"])
def test_add_refuses_a_name_that_is_published_already(voice, folder, anna, name):
    before = files_of(folder)

    assert_fails(voice("add", name, LARK, *AGREED), 1, f"the name {name} is taken")

    assert files_of(folder) == before


def test_add_refuses_a_name_whose_languages_would_take_another(voice, anna):
    assert voice("add", "bob-fr", LARK, *AGREED)[0] == 0

    answer = voice("add", "bob", LARK, *AGREED, "--language", "en,fr")

    assert_fails(answer, 1, "the name bob-fr is taken")


@pytest.mark.parametrize("language", ["", "english", "e", "en;de", "12"])
def test_add_refuses_what_is_no_language(voice, folder, language):
    answer = voice("add", "anna", WREN, *AGREED, "--language", language)

    assert_fails(answer, 1, "languages must be codes")
    assert not folder.exists()


def test_add_gives_a_hint_above_ten_seconds_and_best_takes_less(voice, folder, tmp_path):
    soundfile.write(tmp_path / "x.wav", bursts(10.5), 16000)

    status, out, err = voice("add", "long", "x.wav", *AGREED)
    assert (status, err) == (0, "")
    assert "hint: " in out
    assert "--best 8" in out

    status, out, _ = voice("add", "short", "x.wav", *AGREED, "--best", "2.5")
    assert status == 0
    assert "hint" not in out
    assert 2 < read_voice(folder / "short.voice.json").seconds <= 2.5


@pytest.mark.parametrize("best", ["0.5", "21", "nan", "inf", "-3"])
def test_add_refuses_a_best_stretch_of_another_length(voice, folder, best):
    answer = voice("add", "anna", WREN, *AGREED, f"--best={best}")

    assert_fails(answer, 1, "--best must be from 1.5 to 20 seconds")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("sound", "expected"),
    [
        (np.zeros(48000), "silent"),
        (np.random.default_rng(0).normal(0, 0.1, 48000), "above the noise"),
        (bursts(0.4), "at least 1 s"),
        (bursts(25), "--best 8"),
        (np.where(np.arange(48000) == 5, np.nan, bursts(3)), "no numbers"),
        (np.where(np.arange(48000) == 5, np.inf, bursts(3)), "no numbers"),
    ],
    ids=["silence", "noise", "short", "long", "nan", "inf"],
)
def test_add_refuses_what_is_not_fit(voice, folder, tmp_path, sound, expected):
    soundfile.write(tmp_path / "x y.wav", sound, 16000, subtype="FLOAT")

    answer = voice("add", "anna", "x y.wav", *AGREED)

    assert_fails(answer, 1, "x y.wav cannot be a reference: ", expected)
    assert not folder.exists()


def test_a_constant_is_refused_for_what_it_is(voice, tmp_path):
    soundfile.write(tmp_path / "x.wav", np.full(48000, 0.5), 16000)

    answer = voice("add", "anna", "x.wav", *AGREED)

    assert_fails(answer, 1, "x.wav cannot be a reference: ")
    assert "clipped" not in answer[2]


@pytest.mark.parametrize("command_name", ["add", "check"])
@pytest.mark.parametrize(
    "name", ["missing.wav", "folder", "empty.wav", "text.wav", "sound.raw", "cut.flac", "hour.wav"]
)
def test_what_cannot_be_read_is_told_in_one_line(voice, folder, tmp_path, command_name, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.wav").touch()
    (tmp_path / "text.wav").write_text("Dear Anna")
    (tmp_path / "sound.raw").write_bytes(bytes(96000))
    (tmp_path / "cut.flac").write_bytes((REFERENCES_FOLDER / "wren.flac").read_bytes()[:20000])
    soundfile.write(tmp_path / "hour.wav", np.zeros(601 * 8000, np.int16), 8000, subtype="PCM_U8")

    arguments = ("anna", name, *AGREED) if command_name == "add" else (name,)
    assert_fails(voice(command_name, *arguments), 1, name)
    assert not folder.exists()


def test_a_file_where_the_voices_should_be_is_told_in_one_line(command, tiny_folder, tmp_path):
    (tmp_path / "voices").write_text("mine")

    answer = command(
        "voice", "add", "anna", WREN, *AGREED, "--voices-dir", "voices", "--model", tiny_folder
    )

    assert_fails(answer, 1, "cannot write voices/anna")
    assert (tmp_path / "voices").read_text() == "mine"


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.parametrize(
    ("step", "error", "expected"),
    [
        ("write_recording", OSError(28, "No space left on device"), 1),
        ("write_recording", KeyboardInterrupt(), 130),
        ("write_voice", VoiceError("cannot write it: No space left on device"), 1),
        ("write_voice", KeyboardInterrupt(), 130),
    ],
    ids=repr,
)
def test_an_add_that_ends_while_writing_leaves_the_voices_as_they_were(
    voice, folder, anna, monkeypatch, step, error, expected
):
    before = files_of(folder)
    monkeypatch.setattr(voice_commands, step, failing(error))

    status, out, err = voice("add", "bert", LARK, *AGREED)

    assert (status, out) == (expected, "")
    assert status == 130 or "No space left on device" in err
    assert files_of(folder) == before


def test_a_disk_that_is_full_keeps_no_half_of_a_recording(voice, folder, anna):
    before = files_of(folder)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        answer = voice("add", "bert", LARK, *AGREED)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert_fails(answer, 1)
    assert files_of(folder) == before


def test_a_statement_in_another_encoding_is_kept_or_told_in_one_line(voice, folder):
    # what an argument with the Latin-1 byte of an umlaut becomes
    status, _, err = voice(
        "add", "anna", WREN, "--authorized-by", "J\udcfcrgen", "--statement", "Ja."
    )

    if status:
        assert err.startswith("wyoming-moss-nano: ")
        assert err.count("\n") == 1
        assert not files_of(folder)
    else:
        assert read_voice(folder / "anna.voice.json").authorization.statement == "Ja."


def test_add_does_not_take_over_the_recording_of_an_earlier_voice(voice, folder, anna):
    # a damaged voice is left out, and its name is free
    anna.write_text("{")

    status, _, err = voice("add", "anna", LARK, *AGREED, "--no-keep-recording")

    if status:
        assert err.startswith("wyoming-moss-nano: ")
        assert err.count("\n") == 1
    else:
        assert set(files_of(folder)) == {"anna.voice.json"}
        assert "not kept" in voice("show", "anna")[1]


def test_add_leaves_a_recording_alone_that_lies_where_voices_are_kept(voice, folder):
    folder.mkdir(parents=True)
    brought = (REFERENCES_FOLDER / "lark.flac").read_bytes()
    (folder / "anna.flac").write_bytes(brought)

    voice("add", "anna", folder / "anna.flac", *AGREED)

    assert brought in files_of(folder).values()


# list, show


def test_list_marks_the_default_and_tells_of_every_voice(voice, anna):
    status, out, err = voice("list")

    assert (status, err) == (0, "")
    lines = {line[2:].split()[0]: line for line in out.splitlines()}
    assert set(lines) >= {"alder", "anna", "jay", "lark", "wren"}
    assert "Anna (en, de; enrolled)" in lines["anna"]
    assert [name for name, line in lines.items() if line.startswith("*")] == ["alder"]


def test_show_tells_all_but_the_codes(voice, anna):
    status, out, err = voice("show", "anna")

    assert (status, err) == (0, "")
    kept = json.loads(anna.read_text())
    for words in (
        "anna",
        "en de",
        "anna.flac",
        f"{len(kept['codes'])} frames",
        kept["recording_sha256"],
        kept["codec_id"],
        "Anna Berg",
        kept["authorization"]["at"],
        "I agree to announcements.",
    ):
        assert words in out
    assert not any(", ".join(map(str, row[:2])) in out for row in kept["codes"])
    assert not any(" ".join(map(str, row[:2])) in out for row in kept["codes"])
    assert len(out.splitlines()) == 12


@pytest.mark.parametrize("command_name", ["show", "rename", "remove"])
@pytest.mark.parametrize("name", ["bob", "wren", "alder"])
def test_what_was_not_enrolled_cannot_be_shown_renamed_or_removed(
    voice, folder, anna, command_name, name
):
    before = files_of(folder)
    more = {"show": (), "rename": ("carl",), "remove": ("--yes",)}[command_name]

    assert_fails(voice(command_name, name, *more), 1, f"there is no enrolled voice '{name}'")

    assert files_of(folder) == before


@pytest.mark.parametrize("command_name", ["show", "remove"])
@pytest.mark.parametrize("name", ["../anna", "Anna", "", "*"])
def test_names_are_checked_before_a_file_is_looked_for(voice, anna, command_name, name):
    more = ("--yes",) if command_name == "remove" else ()

    assert_fails(voice(command_name, name, *more), 1, "cannot be a voice's name")
    assert anna.exists()


# rename


def test_rename_moves_the_voice_and_its_recording(voice, folder, anna):
    before = files_of(folder)
    old = read_voice(anna)

    status, out, err = voice("rename", "anna", "berta")

    assert (status, err) == (0, "")
    assert "berta" in out
    assert set(files_of(folder)) == {"berta.voice.json", "berta.flac"}
    assert (folder / "berta.flac").read_bytes() == before["anna.flac"]
    assert mode_of(folder / "berta.flac") == mode_of(folder / "berta.voice.json") == 0o600
    new = read_voice(folder / "berta.voice.json")
    np.testing.assert_array_equal(new.codes, old.codes)
    assert (new.authorization, new.languages) == (old.authorization, old.languages)
    assert "berta" in voice("list")[1]


def test_rename_of_a_voice_without_recording(voice, folder):
    voice("add", "anna", WREN, *AGREED, "--no-keep-recording")

    assert voice("rename", "anna", "berta")[0] == 0

    assert set(files_of(folder)) == {"berta.voice.json"}


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("wren", "taken"),
        ("alder", "taken"),
        ("anna", "taken"),
        ("bob", "taken"),
        ("bob-fr", "taken"),
        ("Berta", "cannot be a voice's name"),
        ("../berta", "cannot be a voice's name"),
    ],
)
def test_rename_to_a_name_that_cannot_be_changes_nothing(voice, folder, anna, new, expected):
    content = json.loads(anna.read_text())
    bob = folder / "bob.voice.json"
    bob.write_text(json.dumps(content | {"name": "bob", "languages": ["en", "fr"]}))
    before = files_of(folder)

    assert_fails(voice("rename", "anna", new), 1, expected)

    assert files_of(folder) == before


def test_a_rename_that_cannot_be_written_changes_nothing(voice, folder, anna, monkeypatch):
    before = files_of(folder)
    full = VoiceError("No space left on device")
    monkeypatch.setattr(voice_commands, "write_voice", failing(full))

    assert_fails(voice("rename", "anna", "berta"), 1, "No space left on device")

    assert files_of(folder) == before


def test_rename_spares_a_voice_that_this_model_cannot_use(command, voice, folder, anna):
    embedded = ("--model", "embedded", "--data-dir", "kept")
    status, _, _ = command("voice", "add", "bob", LARK, *AGREED, "--no-keep-recording", *embedded)
    assert status == 0
    before = files_of(folder)["bob.voice.json"]

    voice("rename", "anna", "bob")

    assert files_of(folder)["bob.voice.json"] == before


# remove


def test_remove_takes_the_recording_too(voice, folder, anna):
    voice("add", "bert", LARK, *AGREED)

    status, out, err = voice("remove", "anna", "--yes")

    assert (status, err) == (0, "")
    assert "anna" in out
    assert set(files_of(folder)) == {"bert.voice.json", "bert.flac"}
    assert "anna" not in voice("list")[1]


def test_remove_where_nobody_can_be_asked_is_a_usage_mistake(voice, folder, anna, monkeypatch):
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115, PTH123
    before = files_of(folder)

    assert_fails(voice("remove", "anna"), 2, "--yes")

    assert files_of(folder) == before
    sys.stdin.close()


@pytest.mark.parametrize("answer", ["y\n", "Yes\n", " y \n"])
def test_remove_after_a_question(voice, folder, anna, monkeypatch, answer):
    monkeypatch.setattr("sys.stdin", Terminal(answer))

    status, out, err = voice("remove", "anna")

    assert (status, err) == (0, "")
    assert "Remove voice anna and its recording for good? [y/N]" in out
    assert files_of(folder) == {}


@pytest.mark.parametrize("answer", ["n\n", "\n", "no\n", "yeah\n", ""], ids=repr)
def test_remove_without_a_yes_removes_nothing(voice, folder, anna, monkeypatch, answer):
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    before = files_of(folder)

    status, _, err = voice("remove", "anna")

    assert status == 1
    assert "nothing was removed" in err
    assert files_of(folder) == before


@pytest.mark.parametrize("content", [b"", b"{", b'{"schema": 9}'])
def test_a_damaged_voice_can_be_removed(voice, folder, anna, content):
    anna.write_bytes(content)

    assert voice("remove", "anna", "--yes")[0] == 0

    assert files_of(folder) == {}


# check


def test_check_tells_in_words_and_writes_nothing(voice, tmp_path):
    status, out, err = voice("check", WREN)

    assert (status, err) == (0, "")
    for words in ("speech", "LUFS", "full scale", "clipped", "dB", "usable"):
        assert words in out
    assert "not usable" not in out
    assert not list((tmp_path / "kept").glob("voices*"))


def test_check_tells_programs_in_json(voice):
    status, out, err = voice("check", WREN, "--json")

    found = json.loads(out)
    assert (status, err) == (0, "")
    assert found["usable"] is True
    assert found["problems"] == found["hints"] == []
    assert found["loudness_lufs"] == pytest.approx(-17.1, abs=0.1)


@pytest.mark.parametrize("sound", [np.zeros(32000), bursts(0.3), np.full(32000, np.nan)])
def test_check_of_what_is_not_fit_fails_and_tells_why(voice, tmp_path, sound):
    soundfile.write(tmp_path / "x.wav", sound, 16000, subtype="FLOAT")

    status, out, err = voice("check", "x.wav")
    assert status == 1
    assert "problem: " in out
    assert "not usable" in out
    assert err == "wyoming-moss-nano: x.wav cannot be a reference\n"

    status, out, _ = voice("check", "x.wav", "--json")
    found = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert status == 1
    assert found["usable"] is False
    assert len(found["problems"]) >= 1


# preview, and the other commands


def test_preview_speaks_with_a_voice(voice, tmp_path, anna):
    assert voice("preview", "anna", "Good night.", "-o", "anna.wav")[0] == 0
    assert voice("preview", "alder", "Good night.", "-o", "alder.wav")[0] == 0

    assert len(heard(tmp_path / "anna.wav")) > 4800
    assert heard(tmp_path / "anna.wav").tobytes() != heard(tmp_path / "alder.wav").tobytes()


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("bob", "Hi.", "-o", "x.wav"), 1, "there is no voice 'bob'"),
        (("wren", "Hi.", "-o", "no/x.wav"), 2, "there is no folder"),
    ],
)
def test_a_preview_that_cannot_be_leaves_no_file(voice, tmp_path, arguments, status, expected):
    assert_fails(voice("preview", *arguments), status, expected)
    assert not list(tmp_path.glob("**/*.wav"))


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("sing",),
        ("add",),
        ("add", "anna"),
        ("show",),
        ("rename", "anna"),
        ("remove",),
        ("check",),
        ("preview", "anna", "Hi."),
        ("list", "anna"),
    ],
)
def test_usage_mistakes_exit_with_2(command, arguments):
    status, out, err = command("voice", *arguments)

    assert (status, out) == (2, "")
    assert "usage" in err


def test_help_teaches(command):
    status, out, _ = command("voice", "add", "--help")

    assert status == 0
    for words in ("--authorized-by", "--statement", "--best", "--no-keep-recording", "example"):
        assert words in out


@pytest.mark.parametrize(
    "codes", [{"0": [1] * 16}, [[1] * 16, [1]], [["1"] * 16], [[-1] * 16], [[1] * 16] * 251]
)
def test_a_voice_with_codes_that_cannot_be_is_told_and_stops_nothing(voice, anna, caplog, codes):
    anna.write_text(json.dumps(json.loads(anna.read_text()) | {"codes": codes}))

    status, out, _ = voice("list")

    assert status == 0
    assert "wren" in out
    assert "anna" not in out
    assert "anna.voice.json is left out" in caplog.text
    assert_fails(voice("show", "anna"), 1, "anna.voice.json")


def test_codes_of_another_codebook_are_refused_when_the_voice_is_to_speak(voice, anna, tmp_path):
    content = json.loads(anna.read_text())
    content["codes"][2][3] = 70_000
    anna.write_text(json.dumps(content))

    assert_fails(voice("preview", "anna", "Hi.", "-o", "x.wav"), 1, "outside its codebook")
    assert not (tmp_path / "x.wav").exists()


def test_nothing_of_a_voice_is_logged(voice, caplog, tmp_path, anna):
    caplog.set_level(logging.DEBUG)
    texts = [
        " ".join(answer[1:])
        for answer in (
            voice("add", "bert", LARK, *AGREED),
            voice("list"),
            voice("show", "bert"),
            voice("preview", "bert", "Good night.", "-o", "x.wav"),
            voice("rename", "bert", "carl"),
            voice("remove", "carl", "--yes"),
        )
    ]

    said = "\n".join([caplog.text, *texts])
    for row in json.loads(anna.read_text())["codes"][:5]:
        assert ", ".join(map(str, row[:3])) not in said
    assert "array(" not in said
    assert "I agree" not in caplog.text
    assert "Good night" not in caplog.text


# other models, and a server that runs


def test_a_voice_follows_to_another_model_with_its_recording(voice, command, tmp_path, anna):
    embedded = ("--model", "embedded", "--data-dir", "kept")
    before = anna.read_bytes()

    assert "encoded again" in command("voice", "list", *embedded)[1]
    for name in ("anna", "robin"):
        status, _, err = command(
            "say", "Good night.", "--voice", name, "-o", f"{name}.wav", *embedded
        )
        assert (status, err) == (0, "")

    assert np.abs(heard(tmp_path / "anna.wav").astype(int)).max() > 1000
    assert heard(tmp_path / "anna.wav").tobytes() != heard(tmp_path / "robin.wav").tobytes()
    assert anna.read_bytes() == before
    assert voice("preview", "anna", "Hi.", "-o", "x.wav")[0] == 0


def test_a_voice_without_its_recording_is_reported_on_another_model(
    voice, command, tmp_path, folder, caplog
):
    embedded = ("--model", "embedded", "--data-dir", "kept")
    voice("add", "anna", WREN, *AGREED, "--no-keep-recording")

    status, out, _ = command("voice", "list", *embedded)
    assert status == 0
    assert "anna" not in out
    assert "its recording was not kept: remove it with voice remove anna" in caplog.text
    answer = command("say", "Hi.", "--voice", "anna", "-o", "x.wav", *embedded)
    assert_fails(answer, 1, "there is no voice 'anna'")

    # the other model can still use it: it is not replaced unasked
    answer = command("voice", "add", "anna", WREN, *AGREED, *embedded)
    assert_fails(answer, 1, "anna.voice.json exists already", "voice remove anna")
    assert command("voice", "remove", "anna", "--yes", *embedded)[0] == 0
    assert command("voice", "add", "anna", WREN, *AGREED, *embedded)[0] == 0
    assert set(files_of(folder)) == {"anna.voice.json", "anna.flac"}


def test_a_recording_that_was_exchanged_is_told_when_it_is_to_be_encoded(
    command, tmp_path, folder, anna
):
    (folder / "anna.flac").write_bytes(b"no sound")

    answer = command(
        "say", "Hi.", "--voice", "anna", "-o", "x.wav", "--model", "embedded", "--data-dir", "kept"
    )

    assert_fails(answer, 1, "anna.flac")
    assert not (tmp_path / "x.wav").exists()


def test_a_running_server_offers_a_voice_once_it_is_added(command, tmp_path):
    kept, uri = ("--data-dir", "kept", "--model", "embedded"), f"unix://{tmp_path}/s"
    server = subprocess.Popen(
        [sys.executable, "-m", "wyoming_moss_nano", *kept, "--uri", uri, "--no-zeroconf"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until = time.monotonic() + 30
        while command("probe", uri)[0] and time.monotonic() < until:
            assert server.poll() is None
            time.sleep(0.1)
        before = command("probe", uri)[1]
        assert "anna" not in before

        assert command("voice", "add", "anna", WREN, *AGREED, *kept)[0] == 0
        assert "anna" in command("voice", "list", *kept)[1]
        assert command("voice", "preview", "anna", "Good night.", "-o", "x.wav", *kept)[0] == 0
        assert np.abs(heard(tmp_path / "x.wav").astype(int)).max() > 1000

        with_anna = command("probe", uri)[1]
        assert "anna" in with_anna
        assert "robin" in with_anna
        assert command("voice", "remove", "anna", "--yes", *kept)[0] == 0
        assert "anna" not in command("probe", uri)[1]
    finally:
        server.terminate()
        _, log = server.communicate(timeout=30)
    assert server.returncode == 0
    assert "Traceback" not in log
    assert "ERROR" not in log
