"""The ways to run the server without the Supervisor, as far as they can be checked without them."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


def test_the_compose_file_builds_this_image_and_can_be_found_by_home_assistant():
    (service,) = yaml.safe_load((ROOT / "contrib/compose.yaml").read_text())["services"].values()

    assert (ROOT / "contrib" / service["build"] / "Dockerfile").is_file()
    assert service["network_mode"] == "host", "zeroconf does not leave a container's own network"
    assert service["cap_drop"] == ["ALL"]


def test_systemd_reads_the_unit(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = (ROOT / "contrib/wyoming-moss-nano.service").read_text()
    program = shutil.which("true")
    tried = tmp_path / "wyoming-moss-nano.service"
    tried.write_text(unit.replace("/opt/wyoming-moss-nano/bin/wyoming-moss-nano", program, 20))

    done = subprocess.run(
        ["systemd-analyze", "verify", tried], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
