"""A voice on disk: private, whole or not at all, and checked when it is read."""

import dataclasses
import json
import os
import stat

import numpy as np
import pytest

from wyoming_moss_nano.errors import VoiceError
from wyoming_moss_nano.voices.voice_file import (
    MAX_FRAMES,
    Authorization,
    VoiceFile,
    check_name,
    read_voice,
    recording_path,
    voice_path,
    write_private,
    write_voice,
)


def made(frames=5, **changes):
    codes = np.arange(frames * 16, dtype=np.int32).reshape(frames, 16) % 1024
    voice = VoiceFile(
        name="anna",
        languages=("en", "de"),
        description="Anna's voice – „hell“ [1, 2]",
        codec_id="0123456789abcdef",
        codes=codes,
        recording_sha256="ab" * 32,
        seconds=0.4,
        loudness_lufs=-18.25,
        authorization=Authorization("Anna Berg", "2026-11-30T12:00:00+00:00", "Ja, gern [ 3 ]."),
    )
    return dataclasses.replace(voice, **changes)


@pytest.fixture
def path(tmp_path):
    return voice_path(tmp_path, "anna")


def files_of(folder):
    return sorted(entry.name for entry in folder.rglob("*"))


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("frames", [1, 5, MAX_FRAMES])
def test_a_voice_reads_back_as_it_was_written(path, frames):
    voice = made(frames)
    write_voice(path, voice)

    read = read_voice(path)

    np.testing.assert_array_equal(read.codes, voice.codes)
    assert read.codes.dtype == np.int32
    for field in dataclasses.fields(VoiceFile):
        if field.name != "codes":
            assert getattr(read, field.name) == getattr(voice, field.name)


def test_the_file_is_json_with_a_frame_a_line_and_text_as_it_was_said(path):
    write_voice(path, made(3))

    text = path.read_text(encoding="utf-8")
    content = json.loads(text)
    assert list(content) == [
        "schema",
        "name",
        "languages",
        "description",
        "codec_id",
        "recording_sha256",
        "seconds",
        "loudness_lufs",
        "authorization",
        "codes",
    ]
    assert content["schema"] == 1
    assert content["authorization"]["statement"] == "Ja, gern [ 3 ]."
    assert "Anna's voice – „hell“ [1, 2]" in text
    assert sum(line.strip(" ,").startswith("[") and "]" in line for line in text.splitlines()) == 3
    assert text.endswith("}\n")


def test_a_voice_and_its_recording_lie_beside_each_other(tmp_path):
    path = voice_path(tmp_path, "anna")

    assert path == tmp_path / "anna.voice.json"
    assert recording_path(path) == tmp_path / "anna.flac"


def test_files_are_for_their_owner_only_whatever_the_umask(tmp_path, umask):
    write_voice(voice_path(tmp_path / "new" / "folder", "anna"), made())
    write_private(tmp_path / "x.flac", lambda file: file.write_bytes(b"sound"))

    assert mode_of(tmp_path / "new" / "folder" / "anna.voice.json") == 0o600
    assert mode_of(tmp_path / "x.flac") == 0o600


def test_a_file_is_private_already_while_it_is_written(tmp_path, umask):
    modes = []

    def write(file):
        file.write_bytes(b"sound")
        modes.append(mode_of(file))

    write_private(tmp_path / "x", write)

    assert modes == [0o600]


def test_an_open_file_is_replaced_by_a_private_one(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    (tmp_path / "x").chmod(0o644)

    write_private(tmp_path / "x", lambda file: file.write_bytes(b"new"))

    assert (tmp_path / "x").read_bytes() == b"new"
    assert mode_of(tmp_path / "x") == 0o600


@pytest.mark.parametrize("error", [OSError("disk full"), ValueError("no"), KeyboardInterrupt()])
def test_a_failure_while_writing_leaves_what_was_there(path, monkeypatch, error):
    write_voice(path, made())
    before = path.read_bytes()

    def write(file):
        file.write_bytes(b"half of")
        raise error

    with pytest.raises((VoiceError, ValueError, KeyboardInterrupt)) as raised:
        write_private(path, write)

    assert isinstance(error, OSError) == isinstance(raised.value, VoiceError)
    assert path.read_bytes() == before
    assert files_of(path.parent) == ["anna.voice.json"]


def test_a_disk_that_is_full_is_reported_with_the_path(tmp_path):
    def write(file):
        raise OSError(28, "No space left on device")

    with pytest.raises(VoiceError, match=r"cannot write .*x: No space left on device"):
        write_private(tmp_path / "x", write)
    assert files_of(tmp_path) == []


@pytest.mark.parametrize("below", [".", "below"])
def test_a_file_where_the_folder_should_be_is_reported(tmp_path, below):
    (tmp_path / "voices").write_text("mine")

    with pytest.raises(VoiceError, match="cannot write"):
        write_voice(voice_path(tmp_path / "voices" / below, "anna"), made())

    assert (tmp_path / "voices").read_text() == "mine"
    assert files_of(tmp_path) == ["voices"]


def test_a_folder_where_the_file_should_be_is_reported(path):
    path.mkdir()

    with pytest.raises(VoiceError, match="cannot write"):
        write_voice(path, made())
    assert files_of(path.parent) == ["anna.voice.json"]


@pytest.mark.parametrize("name", ["a", "0", "anna", "anna-2_x", "a" * 64, "a--", "a__"])
def test_what_can_be_a_name(name):
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "Anna",
        "an na",
        "anna ",
        "anna\n",
        "-anna",
        "_anna",
        ".",
        "..",
        "a.b",
        "a/b",
        "/a",
        "a\\b",
        "a\0",
        "änna",
        "а",  # Cyrillic
        "١",  # an Arabic digit
        "a" * 65,
        "*",
        "~",
        "$x",
    ],
)
def test_what_cannot_be_a_name(name):
    with pytest.raises(VoiceError) as refused:
        check_name(name)
    assert "cannot be a voice's name" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "codes",
    [
        None,
        5,
        "",
        "codes",
        {},
        {"0": [1] * 16},
        [],
        [[]],
        [5],
        [None],
        ["ab"],
        [{"a": 1}],
        [[1] * 16, [1] * 15],
        [[1] * 16, 5],
        [[[1] * 16]],
        [["1"] * 16],
        [[None] * 16],
        [[True] * 16],
        [[1.5] * 16],
        [[-1] * 16],
        [[10**30] * 16],
        [[2**31] * 16],
        [[float("nan")] * 16],
        [[float("inf")] * 16],
        [[1] * 16] * (MAX_FRAMES + 1),
    ],
    ids=lambda codes: repr(codes)[:24],
)
def test_codes_are_checked_when_they_are_read(path, codes):
    write_voice(path, made())
    path.write_text(json.dumps(json.loads(path.read_text()) | {"codes": codes}))

    with pytest.raises(VoiceError) as refused:
        read_voice(path)
    assert str(path) in str(refused.value)
    assert len(str(refused.value)) < 300 + len(str(path))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe\x00",
        b"\x00" * 100,
        b"[" * 100_000,
        b'{"schema": 1}',
        b'{"schema": "1"}',
        b'{"schema": 2}',
    ],
    ids=lambda content: repr(content[:12]),
)
def test_a_damaged_file_is_refused_by_name(path, content):
    path.write_bytes(content)

    with pytest.raises(VoiceError) as refused:
        read_voice(path)
    assert str(path) in str(refused.value)


def test_a_file_cut_off_anywhere_is_refused(path):
    write_voice(path, made(2))
    whole = path.read_bytes()

    for length in range(0, len(whole) - 3, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(VoiceError):
            read_voice(path)


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_what_is_no_file_is_refused(path, kind):
    if kind == "folder":
        path.mkdir()

    with pytest.raises(VoiceError, match=r"anna\.voice\.json"):
        read_voice(path)


@pytest.mark.parametrize("missing", [field.name for field in dataclasses.fields(VoiceFile)])
@pytest.mark.parametrize("value", ["absent", None, [None], {}, True])
def test_every_key_is_needed_and_of_its_kind(path, missing, value):
    write_voice(path, made())
    content = json.loads(path.read_text())
    if value == "absent":
        del content[missing]
    else:
        content[missing] = value
    path.write_text(json.dumps(content))

    with pytest.raises(VoiceError):
        read_voice(path)


@pytest.mark.parametrize(
    "authorization",
    [
        {"by": "", "at": "", "statement": "yes"},
        {"by": "Anna", "at": "", "statement": " \n"},
        {"by": "Anna", "at": ""},
        {"at": "", "statement": "yes"},
        {"by": None, "at": "", "statement": "yes"},
        "Anna",
    ],
)
def test_a_voice_without_authorisation_is_not_used(path, authorization):
    write_voice(path, made())
    path.write_text(json.dumps(json.loads(path.read_text()) | {"authorization": authorization}))

    with pytest.raises(VoiceError, match="authori"):
        read_voice(path)


def test_what_a_refusal_says_holds_no_codes(path):
    voice = made(3)
    write_voice(path, voice)
    content = json.loads(path.read_text())
    rows = [", ".join(map(str, row[:4])) for row in content["codes"]]
    for codes in ([*content["codes"], [1]], [[*row[:-1], -5] for row in content["codes"]]):
        path.write_text(json.dumps(content | {"codes": codes}))

        with pytest.raises(VoiceError) as refused:
            read_voice(path)

        assert not any(row in str(refused.value) for row in rows)
