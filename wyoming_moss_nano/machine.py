"""What this machine gives a process: cores, memory, disk, and what its processor can do."""

import os
import platform
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_KIB: Final = 1024
# Instructions that 8-bit products use, as Linux names them.
_INT8_FLAGS: Final = ("avx2", "avx512_vnni", "avx_vnni", "asimddp", "i8mm")


@dataclass(frozen=True)
class Machine:
    """Facts about the machine below a root folder, ``/`` but in tests."""

    root: Path = Path("/")

    @property
    def cores(self) -> int:
        """Cores this process may run on."""
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1

    @property
    def quota(self) -> float | None:
        """Cores' worth of time that the container may use, the least of all its groups, if set."""
        quotas = [*self._quotas_v2(), *self._quotas_v1()]
        return min(quotas, default=None)

    @property
    def usable_cores(self) -> int:
        """Cores that threads can keep busy without being stopped by the quota, at least one.

        A quota of 1.5 cores is one: a second thread would be stopped half of the time, and the
        first one would wait for it.
        """
        quota = self.quota
        return max(1, min(self.cores, int(quota) if quota is not None else self.cores))

    @property
    def memory_megabytes(self) -> float | None:
        """Memory of the machine or of its container, in MB, if the system tells."""
        limits = [int(text) / 1e6 for text in self._group_files("memory.max") if text.isdigit()]
        return min([*limits, *self._meminfo("MemTotal")], default=None)

    @property
    def available_megabytes(self) -> float | None:
        """Memory that is free or can be freed, in MB, if the system tells."""
        return min(self._meminfo("MemAvailable"), default=None)

    @property
    def processor(self) -> str:
        """The processor's name."""
        found = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", self._cpuinfo(), re.MULTILINE)
        return found.group(1) if found else platform.machine()

    @property
    def int8_flags(self) -> tuple[str, ...]:
        """Those of the processor's instructions that make 8-bit products fast and exact."""
        found = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", self._cpuinfo(), re.MULTILINE)
        flags = found.group(1).split() if found else []
        return tuple(flag for flag in _INT8_FLAGS if flag in flags)

    def free_megabytes(self, path: Path) -> float:
        """Return the free disk where a path is or will be, in MB."""
        existing = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
        return shutil.disk_usage(existing).free / 1e6

    def _cpuinfo(self) -> str:
        return self._read(self.root / "proc/cpuinfo") or ""

    def _meminfo(self, key: str) -> list[float]:
        text = self._read(self.root / "proc/meminfo") or ""
        found = re.search(rf"^{key}:\s+(\d+) kB", text, re.MULTILINE)
        return [int(found.group(1)) * _KIB / 1e6] if found else []

    def _quotas_v2(self) -> Iterator[float]:
        for text in self._group_files("cpu.max"):
            quota, _, period = text.partition(" ")
            if quota.isdigit() and period.isdigit() and int(period):
                yield int(quota) / int(period)

    def _quotas_v1(self) -> Iterator[float]:
        for folder in self._groups("cpu"):
            quota = self._read(folder / "cpu.cfs_quota_us")
            period = self._read(folder / "cpu.cfs_period_us")
            if quota and period and int(quota) > 0 and int(period) > 0:
                yield int(quota) / int(period)

    def _group_files(self, name: str) -> Iterator[str]:
        """Yield a file of the process's group and of every group around it, where there is one."""
        for folder in self._groups(""):
            text = self._read(folder / name)
            if text:
                yield text

    def _groups(self, controller: str) -> Iterator[Path]:
        """Yield the folders of the process's control group, innermost first.

        Args:
            controller: of version 1; empty for version 2.
        """
        mount = self.root / "sys/fs/cgroup" / controller
        for line in (self._read(self.root / "proc/self/cgroup") or "").splitlines():
            _, controllers, path = line.split(":", 2)
            if controller in controllers.split(","):
                # a container often sees its own group as the root
                inside = mount / path.lstrip("/")
                yield from (
                    folder for folder in (inside, *inside.parents) if folder.is_relative_to(mount)
                )

    def _read(self, path: Path) -> str | None:
        try:
            return path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None
