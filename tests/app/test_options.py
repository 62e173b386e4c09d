"""What a user of the Home Assistant app chooses, through the service's own script, to flags."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
RUN = ROOT / "addon/rootfs/etc/s6-overlay/s6-rc.d/moss-nano/run"

ANNA = {
    "name": "anna",
    "recording": "anna.wav",
    "languages": "en, de",
    "authorized_by": "Anna Berg",
    "statement": "I agree.",
}

# The server itself is not started here: what it would be started with is printed.
PROGRAM = """\
#!/bin/sh
if [ "$1" = serve ]; then
    shift
    printf '%s\\n' "$@" >{home}/flags
else
    exec {python} -m wyoming_moss_nano "$@" --config {home}/config --share {home}/share
fi
"""


class App:
    """The app's folders, and its service started once."""

    def __init__(self, home: Path):
        self.home = home
        for name in ("data", "config", "share", "bin"):
            (home / name).mkdir()
        self.program("wyoming-moss-nano", PROGRAM.format(python=sys.executable, home=home))
        self.program("s6-setuidgid", '#!/bin/sh\n[ "$1" = moss ] && shift && exec "$@"\n')
        self.program("chown", f'#!/bin/sh\necho "$@" > {home}/chown\n')

    def program(self, name, text):
        (self.home / "bin" / name).write_text(text)
        (self.home / "bin" / name).chmod(0o755)

    def start(self, options):
        text = options if isinstance(options, str) else json.dumps(options)
        (self.home / "data/options.json").write_text(text)
        done = subprocess.run(
            [ROOT / "tests/app/bin/bashio", RUN],
            env={
                **os.environ,
                "PATH": f"{self.home}/bin:{os.environ['PATH']}",
                "MOSS_NANO_DATA_DIR": f"{self.home}/data",
                "MOSS_NANO_VOICES_DIR": f"{self.home}/config/voices",
                "MOSS_NANO_MODEL": "official",
            },
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        self.flags = (self.home / "flags").read_text().splitlines()
        self.complaints = [line for line in done.stderr.splitlines() if "INFO" not in line]
        return self

    @property
    def voices_file(self):
        return yaml.safe_load((self.home / "data/voices.yaml").read_text())


@pytest.fixture
def app(tmp_path):
    if shutil.which("bash") is None:
        pytest.skip("the app's scripts need bash")
    return App(tmp_path)


def test_the_options_of_a_new_app_are_flags_of_the_server(app):
    manifest = yaml.safe_load((ROOT / "config.yaml").read_text())

    app.start(manifest["options"])

    assert app.complaints == []
    assert app.flags == [
        "--no-zeroconf",
        "--model=official",
        "--precision=auto",
        "--sentence-silence=0.24",
        "--log-level=info",
        f"--voices={app.home}/data/voices.yaml",
    ]
    assert app.voices_file == {"voices": []}
    assert (app.home / "chown").read_text().split() == [
        "-R", "moss:moss", f"{app.home}/data", f"{app.home}/config/voices",
    ]  # fmt: skip


def test_the_server_accepts_all_flags_that_options_can_make(app):
    (app.home / "share/anna.wav").touch()
    options = {
        "model": "embedded", "precision": "exact", "threads": 2, "default_voice": "anna-de",
        "voices": [ANNA], "sentence_silence": 0.5, "log_level": "debug",
    }  # fmt: skip

    app.start(options)

    assert app.complaints == []
    shown = subprocess.run(
        [sys.executable, "-m", "wyoming_moss_nano", "serve", *app.flags, "--uri", "nonsense"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert shown.stderr.splitlines()[-1].startswith("wyoming-moss-nano: --uri must be")
    assert {flag.split("=")[0] for flag in app.flags} == {
        "--no-zeroconf", "--model", "--precision", "--threads", "--default-voice", "--voices",
        "--sentence-silence", "--log-level",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"threads": 0}, "Option threads is not used: threads must be a whole number from 1 to"),
        ({"threads": "two"}, "Option threads is not used: threads must be a whole number"),
        ({"threads": True}, "Option threads is not used: it must be text or a number, not true"),
        ({"precision": "best"}, "Option precision is not used: precision must be one of auto"),
        ({"sentence_silence": 60}, "Option sentence_silence is not used: sentence silence must"),
        ({"sentence_silence": "long"}, "Option sentence_silence is not used: sentence_silence"),
        ({"log_level": "loud"}, "Option log_level is not used: log_level must be one of debug"),
        ({"model": "gpt"}, "Option model is not used: it must be one of official, embedded"),
        ({"default_voice": "nobody"}, "Option default_voice is not used: there is no voice"),
        ({"default_voice": "wren\n--uri"}, "Option default_voice is not used: it must be one line"),
        ({"voice": "anna"}, "Option voice is not used: the app knows model, precision"),
        ({"voices": "anna"}, "Option voices is not used: it must be a list"),
        ("[]", "The options are not used: "),
        ("{", "The options are not used: cannot read "),
    ],
)
def test_an_option_that_cannot_be_used_is_one_line_and_the_rest_is_used(app, options, complaint):
    rest = options | {"sample_mode": None} if isinstance(options, dict) else options
    app.start(rest if isinstance(rest, str) else {"log_level": "debug"} | rest)

    (line,) = app.complaints
    assert line.startswith(f"ERROR {complaint}")
    expected = ["--no-zeroconf", f"--voices={app.home}/data/voices.yaml"]
    if isinstance(options, dict) and "log_level" not in options:
        expected.insert(1, "--log-level=debug")
    assert app.flags == expected


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"name": "Anna Berg"}, "voice Anna Berg is left out: 'Anna Berg' cannot be a voice's"),
        ({"name": ""}, "voice number 1 is left out: '' cannot be a voice's name"),
        ({"recording": "bert.wav"}, "voice anna is left out: there is no recording bert.wav in "),
        (
            {"recording": "../secret.wav"},
            "voice anna is left out: the recording ../secret.wav",
        ),
        ({"recording": "link.wav"}, "voice anna is left out: the recording link.wav must be in"),
        ({"recording": ""}, "voice anna is left out: it needs either a file or a recording"),
        ({"languages": "English"}, "voice anna is left out: languages must be codes such as en"),
        ({"authorized_by": " "}, "voice anna is left out: a recording needs authorized_by and"),
        ({"statement": ""}, "voice anna is left out: a recording needs authorized_by and"),
        ({"file": "a.voice.json"}, "voice anna is left out: there is no key 'file' here"),
        ({"gender": "f"}, "voice anna is left out: there is no key 'gender'"),
        ({"statement": 7}, "voice anna is left out: statement must be text, not 7"),
    ],
)
def test_a_voice_that_cannot_be_used_is_one_line_and_the_others_speak(app, wrong, complaint):
    (app.home / "secret.wav").touch()
    (app.home / "config/link.wav").symlink_to(app.home / "secret.wav")
    for name in ("config/anna.wav", "share/carl.wav"):
        (app.home / name).touch()
    carl = ANNA | {"name": "carl", "recording": f"{app.home}/share/carl.wav", "languages": None}

    app.start({"voices": [ANNA | wrong, carl]})

    (line,) = app.complaints
    assert line.startswith(f"ERROR Option voices: {complaint}")
    (voice,) = app.voices_file["voices"]
    assert voice == carl | {"languages": ["en"]}


def test_of_two_voices_with_one_name_the_first_is_used(app):
    for name in ("anna.wav", "other.wav"):
        (app.home / "config" / name).touch()

    app.start({"voices": [ANNA, ANNA | {"recording": "other.wav"}]})

    assert app.complaints == [
        "ERROR Option voices: voice anna is left out: an earlier one has the same name"
    ]
    (voice,) = app.voices_file["voices"]
    assert voice["recording"] == f"{app.home}/config/anna.wav"


def test_a_recording_that_the_server_may_not_read_is_named(app):
    if os.geteuid() == 0:
        # root, but without the power to read everything
        app.program(
            "s6-setuidgid",
            '#!/bin/sh\nshift; exec setpriv --bounding-set -dac_override,-dac_read_search "$@"\n',
        )
    (app.home / "config/anna.wav").touch()
    (app.home / "config/anna.wav").chmod(0)

    app.start({"voices": [ANNA]})

    (line,) = app.complaints
    assert line.endswith("anna.wav cannot be read: allow others to read that file")


def test_the_users_own_voices_file_works_beside_the_options(app):
    (app.home / "config/anna.wav").touch()
    own = {
        "default_voice": "kitchen",
        "voices": [
            {"name": "anna", "file": "other.voice.json"},
            {"name": "bert", "file": "bert.voice.json", "description": "Bert"},
            {"name": "Bad"},
        ],
        "aliases": {"kitchen": "anna"},
        "pronounce": {"en": {"Berg": "bairg"}},
    }
    (app.home / "config/voices.yaml").write_text(yaml.safe_dump(own))

    app.start({"voices": [ANNA]})

    listed = app.voices_file
    assert [voice["name"] for voice in listed["voices"]] == ["bert", "anna"]
    assert listed["voices"][0]["file"] == f"{app.home}/config/bert.voice.json"
    assert listed["voices"][1]["recording"] == f"{app.home}/config/anna.wav"
    assert listed["aliases"] == {"kitchen": "anna"}
    assert listed["pronounce"] == {"en": {"Berg": "bairg"}}
    assert "--default-voice=kitchen" in app.flags
    assert any("voice Bad is left out" in line for line in app.complaints)
    assert any("the options list one of that name" in line for line in app.complaints)


def test_the_option_wins_over_the_default_voice_of_the_users_file(app):
    (app.home / "config/voices.yaml").write_text("default_voice: jay\n")

    app.start({"default_voice": "lark"})

    assert (app.complaints, app.flags[1]) == ([], "--default-voice=lark")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("voices: {", "The voices file is not used: "),
        ("voice: []", "The voices file is not used: "),
        ("default_voice: who", "{config}/voices.yaml: default_voice is not used: there is no"),
    ],
)
def test_a_voices_file_that_cannot_be_used_is_one_line(app, text, complaint):
    (app.home / "config/voices.yaml").write_text(text)

    app.start({"default_voice": "" if "who" in text else "lark"})

    (line,) = app.complaints
    assert line.startswith("ERROR " + complaint.format(config=app.home / "config"))
