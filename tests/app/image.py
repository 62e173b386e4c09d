"""The app's image without Docker: the steps of the Dockerfile in Debian's own root file system."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]

# The mounts are private and gone with the command.
_IN_ROOT = """\
mount --make-rprivate /
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
exec chroot "$@"
"""


def instructions(dockerfile: Path) -> Iterator[tuple[str, str]]:
    """Give the instructions of a Dockerfile, continued lines joined."""
    lines = [line for line in dockerfile.read_text().splitlines() if not line.startswith("#")]
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        if line.strip():
            name, _, rest = line.partition(" ")
            yield name, rest.strip()


def mirror() -> str:
    """Where this machine's apt finds Debian."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return next(uri for uri in listed.stdout.split() if uri.endswith("/debian/"))


def debian(folder: Path) -> Path:
    """Make the root file system of Debian trixie that reaches what this machine reaches."""
    done = subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=ca-certificates", "trixie", folder,
         mirror()],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    acquire = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True)
    (folder / "etc/apt/apt.conf.d/99machine").write_text(
        "".join(f"{line}\n" for line in acquire.stdout.splitlines() if line.startswith("Acquire::"))
    )
    for path in ("resolv.conf", "hosts", "ssl/certs/ca-certificates.crt", "pip.conf"):
        if (Path("/etc") / path).exists():
            shutil.copyfile(Path("/etc") / path, folder / "etc" / path)
    return folder


def _reaching() -> dict[str, str]:
    """What this machine's environment says about the ways to packages."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PIP_", "SSL_CERT")) or name.lower().endswith("_proxy")
    }


@dataclass
class Stage:
    """One image: its root file system, environment and working directory."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    directory: str = "/"
    healthcheck: str = ""

    def command(self, *command: str, **environment: str) -> list[str]:
        """Return the command that runs a command inside."""
        variables = {
            "PATH": "/command:/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin",
            **self.environment,
            **environment,
        }
        return [
            "unshare", "--mount", "sh", "-ec", _IN_ROOT, "sh", str(self.root),
            "/usr/bin/env", f"--chdir={self.directory}", "-i",
            *(f"{name}={value}" for name, value in variables.items()), *command,
        ]  # fmt: skip

    def run(self, script: str) -> str:
        done = subprocess.run(
            self.command("/bin/sh", "-ec", script, DEBIAN_FRONTEND="noninteractive", **_reaching()),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{script}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout

    def copy(self, sources: list[str], target: str, origin: Path) -> None:
        place = self.root / os.path.join(self.directory, target).lstrip("/")  # noqa: PTH118
        for source in sources:
            path = origin / source.lstrip("/")
            if path.is_dir():
                shutil.copytree(path, place, symlinks=True, dirs_exist_ok=True)
            else:
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, place)


def build(dockerfile: Path, base: Path, folder: Path) -> Stage:
    """Build the stages of a Dockerfile on one base; return the last."""
    stages: dict[str, Stage] = {}
    stage = Stage(base)
    for name, rest in instructions(dockerfile):
        if name == "FROM":
            label = rest.rpartition(" AS ")[2]
            root = folder / f"stage{len(stages)}"
            subprocess.run(["cp", "--archive", base, root], check=True)
            stage = stages[label] = Stage(root)
        elif name == "ENV":
            stage.environment |= dict(part.split("=", 1) for part in shlex.split(rest))
        elif name == "WORKDIR":
            stage.directory = rest
            (stage.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            words = rest.split()
            origin = ROOT
            if words[0].startswith("--from="):
                origin = stages[words.pop(0).removeprefix("--from=")].root
            stage.copy(words[:-1], words[-1], origin)
        elif name == "RUN":
            stage.run(rest)
        elif name == "HEALTHCHECK":
            stage.healthcheck = rest.partition("CMD ")[2]
        elif name not in ("ARG", "LABEL"):
            raise NotImplementedError(name)
    return stage
