"""The app's services: what their scripts do once the server answers, and once it has ended."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVICES = ROOT / "addon/rootfs/etc/s6-overlay/s6-rc.d"
PATIENCE = 60.0  # seconds; reached only where a test fails

ADDRESS = "172.30.33.5"
HOSTS = f"""\
127.0.0.1 localhost
{ADDRESS} a0d7b954-moss-nano
fd0c::5 a0d7b954-moss-nano
172.30.32.2 supervisor
"""

# What a container has of its own, as far as the scripts can tell.
CONTAINER = f"""\
set -e
mount --bind "$1/run" /run
mount --bind "$1/hosts" /etc/hosts
hostname a0d7b954-moss-nano
ip link set lo up
ip address add {ADDRESS}/32 dev lo
ip address add 172.30.32.2/32 dev lo
echo ready
exec /bin/sleep 600
"""

# The part of the Supervisor that is told about services; it describes the server it is told about,
# as Home Assistant would. Arguments: the status of its answers. Prints what it was told.
SUPERVISOR = """
import asyncio, json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from wyoming_moss_nano.server.probe import describe

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        info = asyncio.run(describe(told["config"]["uri"]))
        told |= {"path": self.path, "token": self.headers["Authorization"]}
        print(json.dumps(told | {"found": info.tts[0].name}), flush=True)
        answer = b'{"result": "ok", "data": {"uuid": "f00"}}'
        self.send_response(int(sys.argv[1]))
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_):
        pass

HTTPServer(("172.30.32.2", 80), Handler).serve_forever()
"""


class Container:
    """Mounts, network and host name like those of the app's container."""

    def __init__(self, home: Path):
        self.home = home
        self._started = []
        (home / "hosts").write_text(HOSTS)
        (home / "run/s6-linux-init-container-results").mkdir(parents=True)
        (home / "run/s6/basedir/bin").mkdir(parents=True)
        (home / "programs").mkdir()
        self.exit_code = home / "run/s6-linux-init-container-results/exitcode"
        self.program("../run/s6/basedir/bin/halt", f"touch {home}/halted")
        self._holder = self._popen(
            "unshare", "--mount", "--net", "--uts", "sh", "-c", CONTAINER, "sh", home
        )
        if self._holder.stdout.readline() != "ready\n":
            _, error = self._holder.communicate()
            self.clean_up()
            pytest.skip(f"this machine allows no namespaces: {error.strip()}")

    def program(self, name, line):
        """Put a program before all others."""
        path = self.home / "programs" / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def _popen(self, *command):
        process = subprocess.Popen(
            list(map(str, command)),
            env={
                **os.environ,
                "PATH": f"{self.home}/programs:{Path(sys.executable).parent}:{os.environ['PATH']}",
                "SUPERVISOR_TOKEN": "secret",
            },
            cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._started.append(process)
        return process

    def start(self, *command):
        """Start a command in the container."""
        inside = ["nsenter", "--target", self._holder.pid, "--mount", "--net", "--uts"]
        return self._popen(*inside, "--wd=" + str(ROOT), *command)

    def script(self, name, *arguments):
        """Start a script of the services as the base image would."""
        environment = ("env", "--unset=HOSTNAME")
        return self.start(*environment, ROOT / "tests/app/bin/bashio", SERVICES / name, *arguments)

    def serve(self):
        data = ("--data-dir", self.home / "data", "--model", "embedded", "--precision", "exact")
        return self.start("wyoming-moss-nano", "serve", "--no-zeroconf", *data)

    def supervisor(self, status):
        return self.start(sys.executable, "-c", SUPERVISOR, status)

    def clean_up(self):
        for process in reversed(self._started):
            process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()


@pytest.fixture
def container(tmp_path):
    missing = [name for name in ("unshare", "nsenter", "ip", "curl") if not shutil.which(name)]
    if os.geteuid() != 0 or missing:
        pytest.skip(f"making a container of one's own needs root and the commands {missing}")
    made = Container(tmp_path)
    yield made
    made.clean_up()


@pytest.mark.parametrize(
    ("ended", "before", "result"),
    [
        (("0", "0"), 0, 0),
        (("1", "0"), 0, 1),
        (("2", "0"), 0, 2),
        (("256", "9"), 0, 137),
        (("256", "11"), 0, 139),
        (("1", "0"), 3, 3),
    ],
    ids=["ended", "failed", "misused", "killed", "crashed", "another-failed-before"],
)
def test_the_container_ends_with_the_servers_exit_code(container, ended, before, result):
    container.exit_code.write_text(f"{before}\n")

    finish = container.script("moss-nano/finish", *ended)

    log, _ = finish.communicate(timeout=PATIENCE)
    assert finish.returncode == 0, log
    assert int(container.exit_code.read_text()) == result
    failed = ended != ("0", "0")
    assert (container.home / "halted").exists() is failed
    assert ("ERROR: The server ended with exit code" in log) is failed


def test_home_assistant_is_told_where_the_server_is_once_it_answers(container):
    supervisor = container.supervisor(200)
    discovery = container.script("discovery/run")
    container.serve()

    log, _ = discovery.communicate(timeout=PATIENCE)

    assert (discovery.returncode, log) == (
        0, f"INFO: Home Assistant is told: tcp://{ADDRESS}:10200\n",
    )  # fmt: skip
    assert json.loads(supervisor.stdout.readline()) == {
        "service": "wyoming",
        "config": {"uri": f"tcp://{ADDRESS}:10200"},
        "path": "/discovery",
        "token": "Bearer secret",
        "found": "moss-nano",
    }


def test_a_supervisor_that_refuses_is_a_warning_and_the_server_goes_on(container):
    container.supervisor(400)
    container.serve()

    discovery = container.script("discovery/run")

    log, _ = discovery.communicate(timeout=PATIENCE)
    assert discovery.returncode == 0
    assert "WARNING: The Supervisor does not take the announcement: add the integration" in log
    assert f"host {ADDRESS}, port 10200" in log


@pytest.mark.parametrize(
    ("programs", "warning"),
    [
        ({"wyoming-moss-nano": "exit 1", "sleep": ""}, "The server does not answer"),
        ({"wyoming-moss-nano": "", "getent": "exit 2"}, "This container has no IPv4 address"),
    ],
    ids=["no server", "no address"],
)
def test_without_a_server_or_address_nobody_is_told(container, programs, warning):
    for name, line in programs.items():
        container.program(name, line)

    discovery = container.script("discovery/run")

    log, _ = discovery.communicate(timeout=PATIENCE)
    assert discovery.returncode == 0, log
    assert log.startswith(f"WARNING: {warning}")
