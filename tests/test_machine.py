"""How many threads a container can keep busy, and what else a machine says about itself."""

import os

import pytest

from wyoming_moss_nano.machine import Machine
from wyoming_moss_nano.settings import default_threads


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return a machine of four cores, made of the files given."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})

    def make(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_DOT_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Machine(tmp_path)

    return make


V2 = "0::/app/moss\n"


def test_without_a_quota_all_cores_are_usable(machine):
    found = machine(proc__self__cgroup=V2, sys__fs__cgroup__app__moss__cpu_DOT_max="max 100000\n")
    assert (found.quota, found.usable_cores) == (None, 4)


@pytest.mark.parametrize(
    ("quota", "usable"), [("50000", 1), ("150000", 1), ("200000", 2), ("800000", 4)]
)
def test_a_quota_of_the_container_limits_threads(machine, quota, usable):
    found = machine(
        proc__self__cgroup=V2, sys__fs__cgroup__app__moss__cpu_DOT_max=f"{quota} 100000\n"
    )
    assert found.usable_cores == usable


def test_the_tightest_of_nested_groups_counts(machine):
    found = machine(
        proc__self__cgroup=V2,
        sys__fs__cgroup__app__moss__cpu_DOT_max="300000 100000\n",
        sys__fs__cgroup__app__cpu_DOT_max="200000 100000\n",
    )
    assert found.quota == 2.0


def test_a_container_that_sees_its_group_as_the_root(machine):
    found = machine(proc__self__cgroup="0::/\n", sys__fs__cgroup__cpu_DOT_max="200000 100000\n")
    assert found.usable_cores == 2


def test_the_older_control_groups(machine):
    found = machine(
        proc__self__cgroup="5:memory:/x\n3:cpu,cpuacct:/docker/1\n",
        sys__fs__cgroup__cpu__docker__1__cpu_DOT_cfs_quota_us="200000\n",
        sys__fs__cgroup__cpu__docker__1__cpu_DOT_cfs_period_us="100000\n",
        sys__fs__cgroup__cpu__cpu_DOT_cfs_quota_us="-1\n",
        sys__fs__cgroup__cpu__cpu_DOT_cfs_period_us="100000\n",
    )
    assert found.usable_cores == 2


def test_memory_of_a_container_is_its_limit(machine):
    found = machine(
        proc__self__cgroup=V2,
        proc__meminfo="MemTotal: 8000000 kB\nMemFree: 1 kB\nMemAvailable: 4000000 kB\n",
        sys__fs__cgroup__app__memory_DOT_max="2000000000\n",
    )
    assert found.memory_megabytes == 2000
    assert found.available_megabytes == 4096


@pytest.mark.parametrize(
    ("cpuinfo", "name", "flags"),
    [
        ("model name\t: Intel N100\nflags\t: fpu avx2 avx_vnni\n", "Intel N100", "avx2 avx_vnni"),
        ("Features\t: fp asimd asimddp\nModel\t: Raspberry Pi 5\n", "Raspberry Pi 5", "asimddp"),
    ],
)
def test_the_processor_and_what_it_can_do(machine, cpuinfo, name, flags):
    found = machine(proc__cpuinfo=cpuinfo)
    assert found.processor == name
    assert found.int8_flags == tuple(flags.split())


def test_a_system_that_tells_nothing(machine):
    found = machine()
    assert found.usable_cores == 4
    assert found.memory_megabytes is None
    assert found.available_megabytes is None


def test_this_machine(tmp_path):
    here = Machine()
    assert here.usable_cores >= 1
    assert here.memory_megabytes > here.available_megabytes > 0
    assert here.free_megabytes(tmp_path / "not" / "there") > 0
    assert 1 <= default_threads() <= 4
