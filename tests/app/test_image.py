"""The app's image, built without Docker: its package, its service, its health check."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.app.image import ROOT, build, debian
from wyoming_moss_nano import __version__

PATIENCE = 60.0  # seconds; reached only where a test fails

# What the base image brings, as far as the service needs it.
BASE_PROGRAMS = {
    "with-contenv": 'exec "$@"',
    "s6-setuidgid": 'exec setpriv --reuid "$1" --regid "$1" --init-groups "${@:2}"',
}


def missing():
    if os.geteuid() != 0:
        return "it needs root"
    for program in ("debootstrap", "unshare", "nsenter", "ip", "apt-get"):
        if shutil.which(program) is None:
            return f"it needs the command {program}"
    if "\nID=debian\n" not in f"\n{Path('/etc/os-release').read_text()}":
        return "this machine's apt does not know Debian's packages"
    return None


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    if reason := missing():
        pytest.skip(f"the image is built in a Debian of its own: {reason}")
    folder = tmp_path_factory.mktemp("image")
    try:
        built = build(ROOT / "Dockerfile", debian(folder / "base"), folder)
        for name, line in BASE_PROGRAMS.items():
            program = built.root / "command" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/bash\n{line}\n")
            program.chmod(0o755)
        shutil.copy(ROOT / "tests/app/bin/bashio", built.root / "usr/bin/bashio")
        yield built
    finally:
        # some hundred megabytes that nobody looks at again
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def service(image):
    """The service started as s6 starts it, in a network of its own."""
    for name in ("data", "config", "share"):
        (image.root / name).mkdir(exist_ok=True)
    wren = ROOT / "wyoming_moss_nano/embedded/references/wren.flac"
    shutil.copy(wren, image.root / "share/anna.flac")
    (image.root / "config/private.wav").touch(0o600)
    anna = {
        "name": "anna", "recording": "anna.flac", "languages": "en,de",
        "authorized_by": "Nobody", "statement": "A synthetic voice.",
    }  # fmt: skip
    options = {
        "model": "embedded", "precision": "exact", "default_voice": "anna-de", "threads": 1,
        "voices": [anna, anna | {"name": "bert", "recording": "/config/private.wav"}],
    }  # fmt: skip
    (image.root / "data/options.json").write_text(json.dumps(options))
    log = image.root / "log"
    script = "/etc/s6-overlay/s6-rc.d/moss-nano/run"
    with log.open("w") as file:
        process = subprocess.Popen(
            ["unshare", "--net", "sh", "-ec", 'ip link set lo up; exec "$@"', "sh",
             *image.command(script)],
            stdout=file, stderr=file,
        )  # fmt: skip
    process.log = log
    yield process
    process.kill()
    process.wait()


def test_the_image_holds_the_package_but_nothing_that_builds_it(image):
    assert image.run("wyoming-moss-nano --version").strip() == __version__
    image.run(
        "/opt/moss-nano/bin/python -c 'import onnx, aiohttp, sys; sys.version_info >= (3, 13)'"
    )
    assert image.run("cd /tmp && wyoming-moss-nano say Hello. --model embedded -o hello.wav")
    assert not [
        name for name in ("gcc", "cc", "g++", "make", "pip", "pip3", "git")
        for folder in ("usr/bin", "usr/local/bin", "opt/moss-nano/bin")
        if (image.root / folder / name).exists()
    ]  # fmt: skip
    assert not (image.root / "build").exists()
    assert not list((image.root / "opt/moss-nano").rglob("tests/app"))


def test_the_service_speaks_and_the_health_check_sees_it(image, service):
    check = subprocess.list2cmdline(json.loads(image.healthcheck))
    inside = ["nsenter", "--target", str(service.pid), "--net"]
    deadline = time.monotonic() + PATIENCE
    while True:
        done = subprocess.run(
            [*inside, *image.command("sh", "-c", check)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode == 0:
            break
        assert service.poll() is None, service.log.read_text()
        assert time.monotonic() < deadline, service.log.read_text()

    log = service.log.read_text()
    assert "anna-de  de  Anna" in done.stdout
    assert "bert" not in done.stdout
    assert "voice bert is left out: /config/private.wav cannot be read: allow others" in log
    assert "--default-voice=anna-de" in log
    owner = int(Path(f"/proc/{service.pid}/status").read_text().split("Uid:")[1].split()[0])
    assert owner != 0
    assert (image.root / "data/voices.yaml").stat().st_uid == owner
    assert (image.root / "config/voices").stat().st_uid == owner
    assert (image.root / "config/private.wav").stat().st_uid == 0

    service.terminate()
    assert service.wait(PATIENCE) == 0
