"""The app's image, built without Docker: its package, its service, its health check."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.app.image import ROOT, build, debian
from wyoming_moss_nano import __version__

PATIENCE = 60.0  # seconds; reached only where a test fails

# What the base image brings, as far as the service needs it; s6 itself is Debian's.
BASE_IMAGE = """
apt-get update -qq && apt-get install -y -qq --no-install-recommends s6
bin=/run/s6/basedir/bin
mkdir -p /command $bin /run/s6-linux-init-container-results /run/service
printf '#!/bin/sh\\nexec "$@"\\n' >/command/with-contenv
printf '#!/bin/sh\\ntouch /halted; exec s6-svc -xd /run/service/moss-nano\\n' >$bin/halt
chmod +x /command/with-contenv $bin/halt
echo 0 >/run/s6-linux-init-container-results/exitcode
"""
SUPERVISED = "/run/service/moss-nano"


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
        built.run(BASE_IMAGE)
        shutil.copy(ROOT / "tests/app/bin/bashio", built.root / "usr/bin/bashio")
        yield built
    finally:
        # some hundred megabytes that nobody looks at again
        subprocess.run(["rm", "-rf", "--one-file-system", folder], check=False)


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
    image.run(f"cp -a /etc/s6-overlay/s6-rc.d/moss-nano {SUPERVISED}")
    started = Service(image)
    yield started
    started.clean_up()


class Service:
    """s6 with the service, in a network of its own."""

    def __init__(self, image):
        self.image = image
        self.log_file = image.root / "log"
        with self.log_file.open("w") as file:
            self.process = subprocess.Popen(
                ["unshare", "--net", "sh", "-ec", 'ip link set lo up; exec "$@"', "sh",
                 *image.command("s6-supervise", SUPERVISED)],
                stdout=file, stderr=file,
            )  # fmt: skip

    @property
    def log(self):
        return self.log_file.read_text()

    @property
    def server(self):
        """The server's process id; -1 while there is none."""
        return int(self.image.run(f"s6-svstat -o pid {SUPERVISED}"))

    def health(self):
        """Run the image's own health check beside the server."""
        check = subprocess.list2cmdline(json.loads(self.image.healthcheck))
        return subprocess.run(
            ["nsenter", "--target", str(self.process.pid), "--net",
             *self.image.command("sh", "-c", check)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def wait_until_healthy(self):
        deadline = time.monotonic() + PATIENCE
        while (done := self.health()).returncode:
            assert self.process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
        return done.stdout

    def clean_up(self):
        if self.process.poll() is None:
            subprocess.run(self.image.command("s6-svc", "-xdk", SUPERVISED), check=False)
            self.process.wait(PATIENCE)


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


def test_the_service_speaks_and_a_crash_ends_the_container(image, service):
    offered = service.wait_until_healthy()

    assert "anna-de  de  Anna" in offered
    assert "bert" not in offered
    assert "voice bert is left out: /config/private.wav cannot be read: allow others" in service.log
    assert "--default-voice=anna-de" in service.log
    status = Path(f"/proc/{service.server}/status").read_text()
    owner = int(status.split("Uid:")[1].split()[0])
    assert owner != 0
    assert (image.root / "data/voices.yaml").stat().st_uid == owner
    assert (image.root / "config/voices").stat().st_uid == owner
    assert (image.root / "config/private.wav").stat().st_uid == 0

    os.kill(service.server, signal.SIGKILL)

    service.process.wait(PATIENCE)
    assert (image.root / "halted").exists(), service.log
    result = image.root / "run/s6-linux-init-container-results/exitcode"
    assert result.read_text() == "137\n"
    assert "The server ended with exit code 137" in service.log
