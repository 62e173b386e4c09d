"""The repository as the Home Assistant Supervisor sees it: what it finds, checks and shows.

The rules are those of the Supervisor's sources of August 2026, restated for the keys in use.
"""

import os
import re
import shutil
import struct
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from wyoming_moss_nano.app_options import MODELS, SETTINGS, VOICES
from wyoming_moss_nano.settings import LOG_LEVELS, PRECISIONS, Settings

ROOT = Path(__file__).parents[2]
LANGUAGES = ("de", "en", "es", "fr", "it", "nl", "pl", "zh-Hans")
SERVICES = ROOT / "addon/rootfs/etc/s6-overlay/s6-rc.d"
SCRIPTS = ("discovery/run", "moss-nano/finish", "moss-nano/run")

ELEMENT = re.compile(
    r"(bool|email|url|port|match\(.*\)|list\(.+\)|device(\(subsystem=[a-z]+\))?"
    r"|(str|password)(\(\d*,\d*\))?|int(\(-?\d*,-?\d*\))?"
    r"|float(\((-?\d*\.?\d+)?,(-?\d*\.?\d+)?\))?)\??"
)


def is_text(value):
    return isinstance(value, str)


def is_boolean(value):
    return isinstance(value, bool)


def one_of(*values):
    return lambda value: value in values


def matches(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def list_of(rule):
    return lambda value: isinstance(value, list) and all(map(rule, value))


def is_port_map(value):
    return isinstance(value, dict) and all(
        re.fullmatch(r"\d+(/(tcp|udp))?", port) and (host is None or 1 <= int(host) <= 65535)
        for port, host in value.items()
    )


def is_schema(value):
    return isinstance(value, dict) and all(
        is_text(name) and is_element(element) for name, element in value.items()
    )


def is_element(value):
    """A type, a list of one (no list right in a list), or a mapping of them."""
    if isinstance(value, list):
        return len(value) == 1 and not isinstance(value[0], list) and is_element(value[0])
    return is_schema(value) or matches(ELEMENT.pattern)(value)


REQUIRED = {"name", "version", "slug", "description", "arch"}
RULES = {
    "name": is_text,
    "version": lambda value: is_text(value) and Version(value) is not None,
    "slug": matches(r"[-_.A-Za-z0-9]+"),
    "description": is_text,
    "arch": list_of(one_of("aarch64", "amd64")),
    "homeassistant": matches(r"20\d\d\.\d+\.\d+"),
    "startup": one_of("initialize", "system", "services", "application", "once"),
    "boot": one_of("auto", "manual", "manual_only"),
    "init": is_boolean,
    "discovery": list_of(is_text),
    "ports": is_port_map,
    "watchdog": matches(r"(https?|\[PROTO:\w+\]|tcp)://\[HOST\]:(\[PORT:\d+\]|\d+).*"),
    "map": list_of(
        matches(
            r"(data|config|ssl|local_apps|backup|share|media|homeassistant_config|all_app_configs"
            r"|app_config)(:(rw|ro))?"
        )
    ),
    "backup_exclude": list_of(is_text),
    "options": lambda value: isinstance(value, dict),
    "schema": is_schema,
}


@pytest.fixture(scope="module")
def manifest():
    return yaml.safe_load((ROOT / "config.yaml").read_text())


def checked_out():
    """The files a clone of the repository holds; without git, those that lie here."""
    if shutil.which("git") and (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return [Path(name) for name in listed.stdout.split("\0") if (ROOT / name).is_file()]
    return [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file()]


def found(pattern, hidden):
    return [
        str(path)
        for path in checked_out()
        if re.fullmatch(pattern, path.name)
        and (hidden or not any(part.startswith(".") or part == "rootfs" for part in path.parts))
    ]


def test_the_store_finds_this_one_app():
    assert found(r"config\.(ya?ml|json)", hidden=False) == ["config.yaml"]
    assert found(r"build\.(ya?ml|json)", hidden=True) == []
    assert found(r"repository\.(ya?ml|json)", hidden=True) == ["repository.yaml"]


def test_the_repository_can_be_added():
    repository = yaml.safe_load((ROOT / "repository.yaml").read_text())

    assert set(repository) <= {"name", "url", "maintainer"}
    assert is_text(repository["name"])


def test_the_manifest_says_only_what_the_supervisor_accepts(manifest):
    assert set(manifest) >= REQUIRED
    assert set(manifest) <= set(RULES), "no rule is written here for that key"
    assert [key for key, value in manifest.items() if not RULES[key](value)] == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("arch", ["armv7"]),
        ("slug", "moss nano"),
        ("ports", {"10200/tcp": 0}),
        ("watchdog", "tcp://localhost:10200"),
        ("map", ["addon_config:rw"]),
        ("map", ["app_config:write"]),
        ("schema", {"model": "select(a|b)"}),
        ("schema", {"threads": "int(1)"}),
        ("schema", {"voices": [["str"]]}),
        ("init", "false"),
        ("startup", "late"),
    ],
)
def test_the_rules_refuse_what_the_supervisor_refuses(key, value):
    assert not RULES[key](value)


def test_it_is_the_app_of_this_project(manifest):
    assert (manifest["name"], manifest["slug"]) == ("MOSS Nano TTS", "moss_nano")
    assert manifest["discovery"] == ["wyoming"]
    assert manifest["init"] is False
    assert manifest["ports"] == {"10200/tcp": None}
    assert "image" not in manifest


def test_the_options_fit_their_schema(manifest):
    options, schema = manifest["options"], manifest["schema"]

    assert set(options) <= set(schema)
    for name, element in schema.items():
        optional = isinstance(element, str) and element.endswith("?")
        assert optional is (name not in options), name
        if isinstance(element, str) and element.startswith("list("):
            assert options[name] in element[5:-1].split("|")


def test_the_schema_offers_what_the_server_takes(manifest):
    schema = manifest["schema"]

    assert set(schema) == {*SETTINGS, VOICES}
    assert schema["model"] == f"list({'|'.join(MODELS)})"
    assert schema["precision"] == f"list({'|'.join(PRECISIONS)})"
    assert schema["log_level"] == f"list({'|'.join(LOG_LEVELS)})"
    assert schema["default_voice"].startswith("str"), "whoever adds a voice can choose it"
    assert manifest["options"]["sentence_silence"] == Settings().sentence_silence
    assert manifest["options"]["precision"] == Settings().precision


def test_there_is_one_version(manifest):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert manifest["version"] == project == newest.group(1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_option_is_explained_in_every_language(manifest, language):
    text = (ROOT / "translations" / f"{language}.yaml").read_text(encoding="utf-8")
    translated = yaml.safe_load(text)
    configuration = translated["configuration"]

    assert set(translated) == {"configuration", "network"}
    assert set(translated["network"]) == set(manifest["ports"])
    assert set(configuration) == set(manifest["schema"])
    (voice,) = manifest["schema"]["voices"]
    fields = configuration["voices"].pop("fields")
    assert set(fields) == set(voice)
    for entry in (*configuration.values(), *fields.values()):
        assert set(entry) == {"name", "description"}
        assert all(is_text(part) and part.strip() == part != "" for part in entry.values())


def test_translations_differ():
    """A copy of the English file would pass as any language."""
    sentences = [
        yaml.safe_load(path.read_text(encoding="utf-8"))["configuration"]["voices"]["description"]
        for path in (ROOT / "translations").iterdir()
    ]
    assert len(sentences) == len(set(sentences)) == len(LANGUAGES)


@pytest.mark.parametrize(("name", "size"), [("icon", (128, 128)), ("logo", (250, 100))])
def test_pictures_have_the_size_the_store_shows(name, size):
    content = (ROOT / f"{name}.png").read_bytes()

    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", content[16:24]) == size


def test_the_services_are_those_s6_starts():
    kinds = {path.parent.name: path.read_text().strip() for path in sorted(SERVICES.glob("*/type"))}
    assert kinds == {"discovery": "oneshot", "moss-nano": "longrun"}
    assert {path.name for path in (SERVICES / "user/contents.d").iterdir()} == set(kinds)
    up = (SERVICES / "discovery/up").read_text().strip()
    assert (ROOT / "addon/rootfs" / up.lstrip("/")) == SERVICES / "discovery/run"
    assert (SERVICES / "discovery/dependencies.d/moss-nano").exists()


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_can_be_started(script):
    path = SERVICES / script

    assert os.access(path, os.X_OK)
    assert path.read_text().startswith("#!/command/with-contenv bashio\n# shellcheck shell=bash\n")
    if shutil.which("git") and (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "--stage", path], cwd=ROOT, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert listed.stdout.startswith("100755 "), "git does not keep it executable"


def test_shellcheck_has_nothing_to_say():
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    scripts = [
        *(SERVICES / script for script in SCRIPTS),
        *(path for path in (ROOT / "script").iterdir() if path.is_file()),
        ROOT / ".ci/run",
        ROOT / "tests/app/bin/bashio",
    ]

    done = subprocess.run(["shellcheck", *scripts], capture_output=True, text=True, check=False)

    assert done.stdout == ""


def test_the_profile_is_one_apparmor_reads():
    profile = ROOT / "apparmor.txt"
    names = re.findall(r"^profile (\S+)", profile.read_text(), re.MULTILINE)
    assert names == ["moss_nano"], "the Supervisor renames the only profile at a line's beginning"
    if shutil.which("apparmor_parser") is None:
        pytest.skip("apparmor_parser is not installed: only the profile's name is checked")

    done = subprocess.run(
        ["apparmor_parser", "--skip-kernel-load", "--skip-cache", profile],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr


def test_the_lock_file_pins_what_the_project_needs_by_hash():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pinned, hashes = {}, {}
    for line in lines:
        if match := re.fullmatch(r"([a-z0-9-]+)==(\S+) \\", line):
            name = match[1]
            pinned[name], hashes[name] = match[2], 0
        elif re.match(r"    --hash=sha256:[0-9a-f]{64}", line):
            hashes[name] += 1
        else:
            assert re.match(r"\s*#", line), line

    for text in (*project["dependencies"], *project["optional-dependencies"]["all"]):
        needed = Requirement(text)
        version = pinned.get(needed.name.lower())
        assert version in needed.specifier, f"{needed}: run script/lock"
    assert all(hashes.values())
    assert not [line for line in lines if "://" in line or "--index" in line]


def test_the_image_is_made_of_what_the_context_lets_through():
    rules = [
        line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] not in "#"
    ]
    assert rules[0] == "*"
    let_through = {line[1:] for line in rules if line.startswith("!")}
    copied = {
        source
        for line in (ROOT / "Dockerfile").read_text().splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for source in line.split()[1:-1]
    }

    assert copied == let_through
    assert all((ROOT / path).exists() for path in copied)
    assert not any(path.split("/")[0] in ("tests", "docs", "training") for path in let_through)
