"""voices.yaml: what it may say, and what is said about what it may not."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wyoming_moss_nano import cli
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


def test_words_are_pronounced_as_the_file_says_by_language(read):
    found = read("pronounce: {EN: {MOSS: moss, 5G: five gee}, de: {wifi: Weifei}}")

    assert found.pronounce == {"en": {"MOSS": "moss", "5G": "five gee"}, "de": {"wifi": "Weifei"}}


@pytest.mark.parametrize(
    ("pronounce", "expected"),
    [
        ("[MOSS]", "must be words by language"),
        ("{en: MOSS}", "en must be what is said by word"),
        ("{en: {MOSS: 5}}", "put them into quotes"),
        ("{en: {5: five}}", "put them into quotes"),
        ("{no: {a: b}}", "put the language False into quotes"),
    ],
)
def test_what_cannot_be_pronounced_is_refused(read, pronounce, expected):
    with pytest.raises(SettingsError, match=expected):
        read(f"pronounce: {pronounce}")


@pytest.mark.parametrize(
    "text",
    [
        "default_voice: 2024-13-45",
        "default_voice: 0x_",
        "default_voice: " + "9" * 5000,
        "default_voice: !!int anna",
        "default_voice: !!bool anna",
        "default_voice: !!timestamp anna",
        "[" * 5000,
        "voices: " + "[" * 5000,
        "? [a]\n: b",
        "a: *nothing",
        "default_voice: !python/object:os.system x",
        "default_voice: anna\n---\ndefault_voice: bert",
        'default_voice: "\x00"',
    ],
    ids=lambda text: text[:30],
)
def test_yaml_that_cannot_be_made_into_values_is_refused_in_one_line(read, text):
    with pytest.raises(SettingsError) as caught:
        read(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["no", "off", "0", "5", "2024-01-01", "yes"])
def test_a_default_voice_that_is_no_text_is_refused_and_never_passed_over(read, value):
    # no is a boolean in YAML: whoever names a voice so must hear of it
    with pytest.raises(SettingsError, match="default_voice must be a name"):
        read(f"default_voice: {value}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aliases: no", "aliases must be"),
        ("aliases: {1: anna}", "aliases must be"),
        ("aliases: {no: anna}", "aliases must be"),
        ("voices: no", "voices must be a list"),
        ("voices: {anna: a.wav}", "voices must be a list"),
        ("5: anna", "there is no key 5"),
        ("anna", "must be a mapping"),
        ("5", "must be a mapping"),
        ("no", "must be a mapping"),
    ],
)
def test_values_of_other_types_are_refused(read, text, expected):
    with pytest.raises(SettingsError, match=re.escape(expected)):
        read(text)


def test_a_folder_in_its_place_is_told(tmp_path):
    with pytest.raises(SettingsError, match="cannot read"):
        read_voices_file(tmp_path, needed=True)


def test_a_file_written_by_a_windows_editor_is_read(tmp_path):
    (tmp_path / "voices.yaml").write_bytes("\ufeffdefault_voice: anna\r\n".encode())

    assert read_voices_file(tmp_path / "voices.yaml", needed=True).default_voice == "anna"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.text(alphabet="{}[]:,-?&*!|>'\"%@#\n ab01_", max_size=60)
    | st.builds(
        "{}: {}".format,
        st.sampled_from(["default_voice", "aliases", "voices", "pronounce"]),
        st.text(max_size=30),
    )
)
def test_any_text_is_a_voices_file_or_refused_in_one_line(read, text):
    try:
        read(text)
    except SettingsError as error:
        told = str(error)
    else:
        told = ""
    assert "\n" not in told


# Through the command line


@pytest.fixture
def chosen(monkeypatch, tmp_path):
    """Run a command; return the default voice it was given."""
    monkeypatch.setenv("MOSS_NANO_DATA_DIR", str(tmp_path))

    def run(*arguments):
        seen = []
        monkeypatch.setattr(cli, "say", lambda _, workspace: seen.append(workspace.settings))
        assert cli.main(["say", "Hi.", *arguments]) == 0
        return seen[0].default_voice

    return run


def test_a_flag_wins_over_the_environment_that_over_the_file_and_that_over_the_default(
    chosen, monkeypatch, tmp_path
):
    assert chosen() == ""
    (tmp_path / "voices.yaml").write_text("default_voice: of-the-file")
    assert chosen() == "of-the-file"
    monkeypatch.setenv("MOSS_NANO_DEFAULT_VOICE", "of-the-environment")
    assert chosen() == "of-the-environment"
    assert chosen("--default-voice", "of-the-flag") == "of-the-flag"


def test_the_file_that_is_named_is_read_and_no_other(chosen, monkeypatch, tmp_path):
    for name in ("voices", "flag", "environment"):
        (tmp_path / f"{name}.yaml").write_text(f"default_voice: {name}")

    assert chosen() == "voices"
    monkeypatch.setenv("MOSS_NANO_VOICES", str(tmp_path / "environment.yaml"))
    assert chosen() == "environment"
    assert chosen("--voices", str(tmp_path / "flag.yaml")) == "flag"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "there is no voices file"),
        ("default_voice: [", "is no YAML"),
        ("default_voice: 2024-13-45", "is no YAML"),
        ("defualt_voice: anna", "there is no key 'defualt_voice'"),
    ],
)
def test_a_voices_file_that_cannot_be_used_ends_a_command_with_one_line(
    capsys, tmp_path, text, expected
):
    path = tmp_path / "mine.yaml"
    if text is not None:
        path.write_text(text)

    assert cli.main(["say", "Hi.", "--voices", str(path), "--data-dir", str(tmp_path)]) == 2

    told = capsys.readouterr().err
    assert told.startswith("wyoming-moss-nano: ")
    assert told.count("\n") == 1
    assert expected in told
