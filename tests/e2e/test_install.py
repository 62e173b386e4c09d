"""What a user does first, with nothing of ours installed."""

import os
import shutil
import subprocess
import sys
import venv
import wave
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command, cwd, **more):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd, env=environment, capture_output=True, text=True, check=True, **more,
    )  # fmt: skip


def assert_speech(path):
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getsampwidth()) == (48000, 2)
        assert file.getnframes() > 24000
        assert any(file.readframes(48000))


def sources(folder):
    """The files git knows, as a fresh clone has them, with today's content."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("the sources are no git checkout, so what a clone holds is not known")
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=ROOT)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def test_a_fresh_clone_speaks_with_one_command(tmp_path):
    clone = sources(tmp_path / "clone")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    run(clone / "script" / "run", "say", "Dinner is ready.", "-o", "dinner.wav", cwd=elsewhere)
    assert_speech(elsewhere / "dinner.wav")

    shown = run(clone / "script" / "run", "model", "show", cwd=elsewhere)
    assert "embedded" in shown.stdout


def test_the_wheel_installed_into_an_empty_environment_speaks(tmp_path):
    clone = sources(tmp_path / "sources")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path, clone, cwd=tmp_path)
    (wheel,) = tmp_path.glob("wyoming_moss_nano-*.whl")
    venv.create(tmp_path / "empty", with_pip=True)
    binaries = tmp_path / "empty" / "bin"
    run(binaries / "python", "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)

    run(binaries / "wyoming-moss-nano", "say", "Dinner is ready.", "-o", "dinner.wav", cwd=tmp_path)
    assert_speech(tmp_path / "dinner.wav")

    run(binaries / "python", "-m", "wyoming_moss_nano", "say", "Yes.", "--voice", "wren",
        "-o", "yes.wav", cwd=tmp_path)  # fmt: skip
    package = next((tmp_path / "empty").glob("lib/python*/site-packages/wyoming_moss_nano"))
    assert (package / "py.typed").exists()
    assert len(list((package / "embedded").glob("*/*"))) >= 17
    licences = next(package.parent.glob("wyoming_moss_nano-*.dist-info")) / "licenses"
    assert {path.name for path in licences.iterdir()} == {"LICENSE", "NOTICE"}


def test_the_base_install_needs_neither_onnx_nor_torch(tmp_path):
    code = (
        "import sys; sys.modules['onnx'] = sys.modules['torch'] = sys.modules['scipy'] = None\n"
        "from wyoming_moss_nano.cli import main\n"
        "status = main(['say', 'Good night.', '-o', 'x.wav'])\n"
        "assert main(['model', 'random', 'made']) == 2\n"
        "sys.exit(status)"
    )

    done = run(sys.executable, "-c", code, cwd=tmp_path)

    assert "pip install 'wyoming-moss-nano[all]'" in done.stderr
    assert_speech(tmp_path / "x.wav")
