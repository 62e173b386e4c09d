"""voices.yaml: what it may say, and what is said about what it may not."""

import pytest

from wyoming_moss_nano.errors import SettingsError
from wyoming_moss_nano.voices.file import VoicesFile, read_voices_file


@pytest.fixture
def read(tmp_path):
    def read(text, *, needed=True):
        path = tmp_path / "voices.yaml"
        path.write_text(text, encoding="utf-8")
        return read_voices_file(path, needed=needed)

    return read


def test_a_file_that_is_missing_is_empty_unless_it_was_named(tmp_path):
    assert read_voices_file(tmp_path / "voices.yaml", needed=False) == VoicesFile()
    with pytest.raises(SettingsError, match="there is no voices file"):
        read_voices_file(tmp_path / "voices.yaml", needed=True)


@pytest.mark.parametrize("text", ["", "---\n", "{}", "voices:\naliases:\ndefault_voice:\n"])
def test_an_empty_file_says_nothing(read, text):
    assert read(text) == VoicesFile()
    assert read(text).settings() == {}


def test_a_whole_file_is_understood(read, tmp_path):
    found = read(
        """
        default_voice: anna
        voices:
          - name: anna
            languages: [en, de]
            description: Anna from next door
            recording: sounds/anna.wav
            authorized_by: Anna
            statement: Go ahead.
          - {name: bert, file: bert.voice.json}
        aliases: {kitchen: anna}
        """
    )

    anna, bert = found.voices
    assert found.settings() == {"default_voice": "anna"}
    assert (anna.name, anna.languages) == ("anna", ("en", "de"))
    assert anna.source == tmp_path / "sounds" / "anna.wav"
    assert anna.authorization.statement == "Go ahead."
    assert (bert.languages, bert.authorization) == (("en",), None)
    assert found.aliases == {"kitchen": "anna"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("default_vioce: anna", "there is no key 'default_vioce'; known are default_voice"),
        ("- anna", "must be a mapping"),
        ("voices: [", "is no YAML"),
        ("a: b: c", "is no YAML"),
        ("default_voice: [anna]", "default_voice must be a name"),
        ("aliases: [anna]", "aliases must be"),
        ("aliases: {kitchen: 5}", "aliases must be"),
        ("voices: anna", "voices must be a list"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(read, text, expected):
    with pytest.raises(SettingsError) as caught:
        read(text)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "voices.yaml").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SettingsError, match="is no YAML"):
        read_voices_file(tmp_path / "voices.yaml", needed=True)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{file: x.voice.json}", "cannot be a voice's name"),
        ("{name: anna}", "either a file or a recording"),
        ("{name: anna, file: a, recording: b}", "either a file or a recording"),
        ("{name: anna, recording: a.wav}", "needs authorized_by and statement"),
        ("{name: anna, file: a, languages: english}", "languages must be codes"),
        ("{name: anna, file: a, languages: [5]}", "languages must be codes"),
        ("{name: anna, file: 5}", "file must be text"),
        ("{name: anna, fiel: a}", "there is no key 'fiel'"),
        ("anna", "must be a mapping"),
    ],
)
def test_a_voice_that_cannot_be_used_is_logged_and_the_rest_goes_on(read, caplog, entry, expected):
    found = read(f"voices:\n  - {entry}\n  - {{name: bert, file: bert.voice.json}}\n")

    assert [voice.name for voice in found.voices] == ["bert"]
    assert "is left out" in caplog.text
    assert expected in caplog.text


def test_what_a_later_release_reads_is_a_warning(read, caplog):
    assert read("pronounce: {en: {MOSS: moss}}") == VoicesFile()
    assert "not read by this release" in caplog.text
