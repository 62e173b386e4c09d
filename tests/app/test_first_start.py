"""The app's first start, with the options it is installed with and the model still far away."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from wyoming.client import AsyncClient
from wyoming.event import Event

from tests.hub import Hub, Manner
from wyoming_moss_nano.model.manifest import PINNED_FILES
from wyoming_moss_nano.model.verify import place_of

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds; reached only where a test fails


@pytest.fixture
def hub(tmp_path):
    """A hub that gives the first file slowly, and not as it was published."""
    readme = PINNED_FILES[0]
    path = place_of(tmp_path / "hub", readme)
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(readme.bytes))
    with Hub(tmp_path / "hub", (readme,)) as running:
        running.manner = Manner(block=readme.bytes // 20, pace=0.1)
        yield running


@pytest.fixture
def service(tmp_path, hub):
    """The service's script with what it needs of its container; its log."""
    data, programs = tmp_path / "data", tmp_path / "programs"
    for folder in (data, programs, tmp_path / "config"):
        folder.mkdir()
    options = yaml.safe_load((ROOT / "config.yaml").read_text())["options"]
    (data / "options.json").write_text(json.dumps(options))
    for name, line in (("s6-setuidgid", 'shift; exec "$@"'), ("chown", "exit 0")):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    log = tmp_path / "log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [ROOT / "tests/app/bin/bashio",
             ROOT / "addon/rootfs/etc/s6-overlay/s6-rc.d/moss-nano/run"],
            env={
                **os.environ,
                "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
                "MOSS_NANO_DATA_DIR": str(data),
                "MOSS_NANO_VOICES_DIR": str(tmp_path / "config/voices"),
                "MOSS_NANO_URI": "tcp://127.0.0.1:0",
                "HF_ENDPOINT": hub.url,
                "HF_HUB_OFFLINE": "0",
                "no_proxy": "*",
            },
            stdout=file, stderr=file,
        )  # fmt: skip
    yield log
    process.kill()
    process.wait()


def logged(log, pattern):
    """Wait for a line of the log."""
    deadline = time.monotonic() + PATIENCE
    while not (match := re.search(pattern, log.read_text())):
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
    return match


async def ask(uri, event, until):
    """Return the events that answer one."""
    async with asyncio.timeout(PATIENCE), AsyncClient.from_uri(uri) as client:
        await client.write_event(event)
        events = []
        while not events or events[-1].type != until:
            events.append(await client.read_event())
        return events


async def test_the_app_is_found_at_once_and_says_how_much_of_the_model_is_there(service, tmp_path):
    uri = logged(service, r"Listening on (tcp://\S+)")[1]

    (info,) = await ask(uri, Event("describe"), "info")
    answer = await ask(uri, Event("synthesize", {"text": "Dinner is ready."}), "audio-stop")

    (program,) = info.data["tts"]
    assert {"jay", "lark", "wren"} <= {voice["name"] for voice in program["voices"]}
    assert answer[0].type == "error"
    assert re.search(r"is being fetched, \d+ % is there", answer[0].data["text"])
    assert not any(event.type == "audio-chunk" for event in answer)
    logged(service, r"Fetching 18 files from 127.0.0.1, 763.2 MB to go")

    logged(service, r"Fetching the model failed, and is tried again: ")
    assert not [path for path in (tmp_path / "data/models").glob("[!.]*/*") if path.is_file()]
    assert "Traceback" not in service.read_text()
