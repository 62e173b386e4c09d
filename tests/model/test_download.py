"""Fetching a random bundle from a hub on this machine that behaves and misbehaves."""

import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.hub import Hub, Manner, pin
from wyoming_moss_nano.errors import DownloadError
from wyoming_moss_nano.model.bundle import read_bundle
from wyoming_moss_nano.model.download import (
    Patience,
    copy_model,
    fetch_model,
    remove_model,
)
from wyoming_moss_nano.model.hub import HubSource
from wyoming_moss_nano.model.manifest import manifest_json
from wyoming_moss_nano.model.partial import PartialFolder
from wyoming_moss_nano.model.progress import Progress, ProgressLog
from wyoming_moss_nano.model.verify import missing_files, place_of, verify_model

QUICK = Patience(first_pause=0.01)

FETCH = """
import json, logging, sys
from pathlib import Path
from wyoming_moss_nano.model.download import fetch_model
from wyoming_moss_nano.model.manifest import PinnedFile
logging.basicConfig(level="INFO")
files = json.loads(Path(sys.argv[2]).read_text())["files"]
fetch_model(Path(sys.argv[1]), tuple(PinnedFile(**file) for file in files))
"""


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture(scope="session")
def files(tiny_folder):
    files = pin(tiny_folder)
    assert len(files) == 18
    return files


@pytest.fixture
def hub(tiny_folder, files):
    with Hub(tiny_folder, files) as hub:
        yield hub


@pytest.fixture
def models(tmp_path):
    return tmp_path / "models"


@pytest.fixture
def fetch(hub, files, models):
    def run(where=None, patience=QUICK, silence=5.0, **more):
        source = HubSource(hub.url, silence)
        return fetch_model(where or models, files, source=source, patience=patience, **more)

    return run


@pytest.fixture
def large(files):
    """A file of many blocks."""
    return max(files, key=lambda file: file.bytes)


@pytest.fixture
def process(hub, files, models, tmp_path):
    """Fetch in a process of its own, as the server and the command do."""
    started = []
    manifest = tmp_path / "manifest.json"
    manifest.write_text(manifest_json(files))

    def start():
        environment = os.environ | {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0"}
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", FETCH, models, manifest],
                env=environment,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield start
    for running in started:
        running.kill()
        running.wait()
        running.stderr.close()


class Waits(threading.Event):
    """Never set: it takes note of the pauses and skips them."""

    def __init__(self):
        super().__init__()
        self.pauses = []

    def wait(self, timeout=None):
        self.pauses.append(timeout)
        return False


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 40 MB: it fills up, and it can be made read-only."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", folder]
    mounted = subprocess.run(mount, capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("this user cannot mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


def fill(disk, leave):
    free = shutil.disk_usage(disk).free
    (disk / "ballast").write_bytes(bytes(max(0, free - leave)))
    return disk / "ballast"


def content(folder, files):
    return [place_of(folder, file).read_bytes() for file in files]


def unfinished(models):
    return sorted(path.name for path in models.glob(".partial/*") if path.name != "lock")


def assert_whole(models, files):
    assert verify_model(models, files) == []
    assert not (models / ".partial").exists()
    for path in models.rglob("*"):
        assert not path.is_symlink()
        assert path.is_dir() or path.stat().st_mode & 0o777 == 0o644


# Whole


def test_a_fetched_bundle_is_the_published_one_and_loads(
    fetch, hub, models, files, tiny_folder, tiny_bundle
):
    assert fetch()

    assert_whole(models, files)
    assert content(models, files) == content(tiny_folder, files)
    assert read_bundle(models).bundle_id == tiny_bundle.bundle_id
    assert len(hub.asked) == 18
    assert hub.ranges == []


def test_what_is_there_is_not_asked_for_again(fetch, hub, models, files):
    fetch()
    hub.asked.clear()

    assert fetch()
    assert fetch(check=True)
    assert hub.asked == []

    place_of(models, files[3]).unlink()
    with place_of(models, files[5]).open("ab") as file:
        file.write(b"more")
    assert fetch()
    assert [asked.path.rpartition("/")[2] for asked in hub.asked] == [files[3].file, files[5].file]
    assert_whole(models, files)


def test_licence_and_attribution_lie_beside_the_files(fetch, models, files):
    fetch()

    text = (models / "MODEL-LICENSE.txt").read_text()
    assert "OpenMOSS" in text
    assert "Apache License, Version 2.0" in text
    for file in files:
        assert f"{file.repository}, revision {file.revision}" in text


def test_progress_grows_to_the_whole(fetch, hub, files):
    hub.manner.block = 64 << 10
    seen: list[Progress] = []

    fetch(on_progress=seen.append)

    total = sum(file.bytes for file in files)
    done = [progress.done_bytes for progress in seen]
    assert done == sorted(done)
    assert {progress.total_bytes for progress in seen} == {total}
    assert (seen[0].percent, seen[-1].percent) == (0, 100)


def test_the_log_has_a_line_for_every_five_per_cent(caplog):
    caplog.set_level(logging.INFO)
    log = ProgressLog()

    for done in range(1001):
        log(Progress("file", done * 1000, 1_000_000))

    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 20
    assert (lines[0], lines[-1]) == (
        "The official model: 5 % (0 of 1 MB)",
        "The official model: 100 % (1 of 1 MB)",
    )


@pytest.mark.parametrize("chunked", [False, True])
def test_a_slow_hub_that_keeps_sending_is_waited_for(fetch, hub, models, files, chunked):
    hub.manners.append(Manner(block=60, pace=0.4, chunked=chunked))

    assert fetch(silence=1.0)
    assert len(hub.asked) == 18
    assert_whole(models, files)


# Cut off and resumed


@pytest.mark.parametrize(
    "manner",
    [Manner(cut=70_000), Manner(cut=70_000, chunked=True), Manner(stall=(70_000, 3.0))],
    ids=["hung up", "hung up between chunks", "silent"],
)
def test_a_transfer_that_broke_goes_on_where_it_was(fetch, hub, models, files, manner):
    large = next(file for file in files if file.bytes > 200_000)
    hub.manners.extend([Manner()] * files.index(large))
    hub.manners.append(manner)

    assert fetch(silence=1.0)

    (asked_for,) = hub.ranges
    start = int(asked_for.removeprefix("bytes=").removesuffix("-"))
    assert 65_536 <= start <= 81_920
    assert len(hub.asked) == 19
    assert_whole(models, files)


def test_an_unfinished_file_is_resumed_by_the_next_fetch(hub, models, large):
    hub.manners.append(Manner(cut=100_000))
    hub.manner = Manner(status=503)
    with pytest.raises(DownloadError, match=r"answers 503.*6 times.*goes on from here"):
        fetch_model(models, (large,), source=HubSource(hub.url), cancelled=Waits())
    hub.asked.clear()

    hub.manner = Manner()
    assert fetch_model(models, (large,), source=HubSource(hub.url))
    assert [asked.range for asked in hub.asked] == ["bytes=100000-"]
    assert_whole(models, (large,))


def test_every_try_that_brings_bytes_is_a_fresh_start(hub, models, large):
    hub.manner = Manner(cut=50_000)
    waits = Waits()

    assert fetch_model(
        models, (large,), source=HubSource(hub.url), patience=Patience(tries=2), cancelled=waits
    )
    assert len(hub.asked) == -(-large.bytes // 50_000)
    assert set(waits.pauses) == {1.0}


@pytest.mark.parametrize(
    "manner",
    [
        Manner(ranges=False),
        Manner(content_range="bytes 7-8/9"),
        Manner(content_range="nonsense"),
        Manner(ranges=False, chunked=True),
    ],
    ids=["whole", "another part", "nonsense", "whole in chunks"],
)
def test_a_hub_that_gives_no_part_is_asked_for_the_whole(fetch, hub, models, files, large, manner):
    half_done(models, large, b"x" * 1000)
    hub.manner = manner

    assert fetch()
    assert hub.ranges == ["bytes=1000-"]
    assert_whole(models, files)


def half_done(models, file, begun):
    path = PartialFolder(models).place_of(file)
    path.parent.mkdir(parents=True)
    path.write_bytes(begun)
    return path


def test_an_unfinished_file_with_other_bytes_begins_anew(fetch, hub, models, files, large, caplog):
    half_done(models, large, b"x" * 1000)

    assert fetch()
    assert hub.ranges == ["bytes=1000-"]
    assert "not the published content; trying again" in caplog.text
    assert_whole(models, files)


def test_an_unfinished_file_that_is_whole_needs_no_request(
    fetch, hub, models, files, large, tiny_folder
):
    half_done(models, large, place_of(tiny_folder, large).read_bytes())

    assert fetch()
    assert len(hub.asked) == 17
    assert_whole(models, files)


def test_an_unfinished_file_that_is_too_long_is_thrown_away(fetch, hub, models, files, large):
    half_done(models, large, bytes(large.bytes + 1))

    assert fetch()
    assert hub.ranges == []
    assert_whole(models, files)


def test_orphans_are_cleared_and_links_never_followed(fetch, hub, models, files, large, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"mine")
    path = half_done(models, large, b"")
    path.unlink()
    path.symlink_to(elsewhere)
    (path.parent / "0123.incomplete").write_bytes(b"orphan")
    (path.parent / "folder").mkdir()
    (path.parent / "folder" / "file").touch()
    place_of(models, large).parent.mkdir()
    place_of(models, large).symlink_to(elsewhere)
    hub.manner = Manner(status=404)

    with pytest.raises(DownloadError):
        fetch()
    assert unfinished(models) == [files[0].digest]

    hub.manner = Manner()
    assert fetch()
    assert elsewhere.read_bytes() == b"mine"
    assert_whole(models, files)


def test_killed_at_any_point_it_goes_on_and_no_file_is_ever_half(process, hub, models, files):
    seed = time.time_ns()  # said where it fails
    chance = random.Random(seed)
    hub.manner = Manner(pace=0.001)
    sizes = {file.digest: file.bytes for file in files}
    total = sum(sizes.values())
    resumed = 0
    for _ in range(20):
        left = unfinished(models)
        begun = {name: (models / ".partial" / name).stat().st_size for name in left}
        mark, requests = hub.sent, len(hub.asked)
        running = process()
        until = mark + chance.randrange(total // 15)
        while hub.sent < until and running.poll() is None:
            time.sleep(0.001)
        time.sleep(chance.choice([0, 0, 0.002]))
        running.send_signal(signal.SIGKILL)
        running.communicate()

        assert all(line.endswith(" is missing") for line in verify_model(models, files)), seed
        # one that had all its bytes, but was not moved in yet, is not asked for again
        cut = [size for name, size in begun.items() if 0 < size < sizes[name]]
        if cut and len(hub.asked) > requests:
            assert hub.asked[requests].range == f"bytes={cut[0]}-", seed
            resumed += 1

    hub.manner = Manner()
    last = process()
    last.communicate()
    assert last.returncode == 0, seed
    assert resumed, seed
    assert_whole(models, files)
    # nothing but the files is asked for
    assert all("/resolve/" in asked.path for asked in hub.asked)


# Wrong answers


def test_wrong_bytes_of_the_right_length_are_never_moved_in(fetch, hub, models, files):
    hub.manner = Manner(alter=lambda whole: bytes([whole[0] ^ 1]) + whole[1:])

    with pytest.raises(DownloadError, match=rf"{files[0].file} .*not the published content.*127"):
        fetch()
    assert len(hub.asked) == 2
    assert len(missing_files(models, files)) == 18
    assert not any(path.stat().st_size for path in models.glob(".partial/*"))


def test_wrong_bytes_once_are_forgiven(fetch, hub, models, files):
    hub.manners.append(Manner(alter=lambda whole: bytes(len(whole))))

    assert fetch()
    assert_whole(models, files)


@pytest.mark.parametrize("length", [-1, 1])
def test_a_wrong_length_is_refused_and_costs_nothing_that_came(fetch, hub, models, large, length):
    half_done(models, large, b"x" * 1000)
    hub.manner = Manner(alter=lambda whole: whole[:-1] if length < 0 else whole + b"x")

    with pytest.raises(
        DownloadError, match=rf"has {large.bytes + length} bytes.*not {large.bytes}"
    ):
        fetch_model(models, (large,), source=HubSource(hub.url))
    assert PartialFolder(models).bytes_of(large) == 1000


def test_a_page_of_somebody_between_is_refused(fetch, hub):
    hub.manner = Manner(alter=lambda _: b"<html>Please log in</html>")

    with pytest.raises(DownloadError, match=r"has 26 bytes there"):
        fetch()


@pytest.mark.parametrize(
    ("status", "advice"),
    [(404, "check HF_ENDPOINT"), (401, "unset it"), (403, "proxy"), (451, "--from DIR")],
)
def test_a_refusal_ends_it_at_once_in_one_line(fetch, hub, files, status, advice):
    hub.manner = Manner(status=status)

    with pytest.raises(DownloadError, match=rf"answers {status} for .*{files[0].file}.*{advice}"):
        fetch()
    assert len(hub.asked) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429, 408])
def test_trouble_that_passes_is_waited_out(fetch, hub, models, files, status):
    hub.manners.extend([Manner(status=status)] * 2)
    waits = Waits()

    assert fetch(patience=Patience(), cancelled=waits)
    assert waits.pauses == [1.0, 2.0]
    assert_whole(models, files)


def test_trouble_that_stays_ends_it_after_growing_pauses(fetch, hub):
    hub.manner = Manner(status=503)
    waits = Waits()

    with pytest.raises(DownloadError, match=r"answers 503.*6 times"):
        fetch(patience=Patience(), cancelled=waits)
    assert waits.pauses == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_endless_patience_outlasts_it(fetch, hub, models, files):
    hub.manners.extend([Manner(status=503)] * 9)
    waits = Waits()

    assert fetch(patience=Patience(endless=True), cancelled=waits)
    assert waits.pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


@pytest.mark.parametrize(
    ("asked", "lowest", "highest"),
    [
        ("7", 7, 7),
        (format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True), 300, 300),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 1, 1),
        ("86400", 300, 300),
        ("9" * 400, 300, 300),
        ("soon", 1, 1),
        ("-1", 1, 1),
    ],
    ids=["seconds", "date", "past", "a day", "for ever", "a word", "negative"],
)
def test_the_hub_may_ask_for_a_longer_pause(fetch, hub, asked, lowest, highest):
    hub.manners.append(Manner(status=429, headers={"Retry-After": asked}))
    waits = Waits()

    assert fetch(patience=Patience(), cancelled=waits)
    (pause,) = waits.pauses
    assert lowest <= pause <= highest


# Where files really are


def test_another_host_gets_the_range_but_never_the_token(
    fetch, hub, models, files, large, monkeypatch, tiny_folder
):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    half_done(models, large, place_of(tiny_folder, large).read_bytes()[:5000])
    hub.manners.extend([Manner(redirect="localhost"), Manner()] * 18)

    assert fetch()

    there = [asked for asked in hub.asked if asked.path.startswith("/cdn")]
    here = [asked for asked in hub.asked if not asked.path.startswith("/cdn")]
    assert len(here) == len(there) == 18
    assert {asked.authorization for asked in here} == {"Bearer hf_secret"}
    assert {asked.authorization for asked in there} == {None}
    assert {asked.host.partition(":")[0] for asked in there} == {"localhost"}
    assert [asked.range for asked in there if asked.range] == ["bytes=5000-"]
    assert_whole(models, files)


def test_the_same_host_gets_the_token_again(fetch, hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub.manners.extend([Manner(redirect=""), Manner()])

    assert fetch()
    assert [asked.authorization for asked in hub.asked[:2]] == ["Bearer hf_secret"] * 2


@pytest.mark.parametrize(
    "endpoint", ["hub", "ftp://127.0.0.1", "https://", "http://me:pw@127.0.0.1", "http://h:port"]
)
def test_an_endpoint_that_is_no_web_address_is_said(endpoint):
    with pytest.raises(DownloadError, match=r"^HF_ENDPOINT is no web address: .*https://HOST$"):
        HubSource(endpoint)


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:1", "http://hub.invalid"])
def test_no_network_is_one_clear_line_at_once(models, files, endpoint):
    waits = Waits()

    with pytest.raises(DownloadError, match=r"cannot be reached \(.+\): check network.*--from DIR"):
        fetch_model(models, files, source=HubSource(endpoint), cancelled=waits)
    assert waits.pauses == []


def test_endless_patience_waits_for_a_network_too(models, files):
    class Three(Waits):
        def wait(self, timeout=None):
            super().wait(timeout)
            return len(self.pauses) == 3

    waits = Three()
    source = HubSource("http://127.0.0.1:1")

    assert not fetch_model(
        models, files, source=source, cancelled=waits, patience=Patience(endless=True)
    )
    assert waits.pauses == [1.0, 2.0, 4.0]


# Stopping and sharing


@pytest.mark.parametrize("manner", [Manner(stall=(0, 3.0)), Manner(status=503), Manner(pace=0.1)])
def test_it_is_cancelled_within_a_second(fetch, hub, manner):
    hub.manner = manner
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    began = time.monotonic()

    assert not fetch(cancelled=cancelled, patience=Patience(first_pause=30.0))
    assert time.monotonic() - began < 1.3


def test_a_second_fetch_waits_and_asks_for_nothing(process, hub, models, files):
    hub.manner = Manner(pace=0.005)
    first = process()
    while not hub.asked:
        time.sleep(0.005)
    second = process()
    logs = [running.communicate(timeout=30)[1] for running in (first, second)]

    assert (first.returncode, second.returncode) == (0, 0)
    assert "Another fetch is running" not in logs[0]
    assert logs[1].count("Another fetch is running") == 1
    assert len(hub.asked) == 18
    assert_whole(models, files)


def test_many_at_once_leave_one_whole_model(fetch, hub, models, files):
    done = []
    threads = [threading.Thread(target=lambda: done.append(fetch())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert done == [True] * 8
    assert len(hub.asked) == 18
    assert_whole(models, files)


def test_the_lock_lets_one_in_also_while_it_is_tidied_away(models):
    inside, most, done = [], [], []

    def enter():
        for _ in range(150):
            with PartialFolder(models).held(busy=lambda: time.sleep(0.0005)):
                inside.append(1)
                most.append(len(inside))
                inside.pop()
        done.append(True)

    threads = [threading.Thread(target=enter) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(done) == 6
    assert set(most) == {1}


def test_waiting_for_another_fetch_can_be_cancelled(fetch, models):
    cancelled = threading.Event()
    threading.Timer(0.2, cancelled.set).start()
    models.mkdir()

    with PartialFolder(models).held(busy=pytest.fail):
        assert not fetch(cancelled=cancelled)


def test_an_unfinished_file_replaced_behind_its_back_is_noticed(
    fetch, hub, models, files, large, caplog
):
    path = PartialFolder(models).place_of(large)

    def swap():
        path.unlink()
        path.write_bytes(bytes(large.bytes))

    hub.manners.extend([Manner()] * files.index(large))
    hub.manners.append(Manner(before=swap))

    assert fetch()
    assert "replaced by somebody else" in caplog.text
    assert_whole(models, files)


def test_a_finished_file_cut_off_behind_its_back_is_noticed(fetch, hub, models, files):
    hub.manners.extend([Manner()] * 5)
    hub.manners.append(Manner(before=lambda: place_of(models, files[0]).write_bytes(b"")))

    with pytest.raises(DownloadError, match=rf"{files[0].file} was changed by somebody else"):
        fetch()
    assert fetch()
    assert_whole(models, files)


def test_verify_names_what_differs_and_check_brings_it_back(fetch, hub, models, files):
    fetch()
    swapped, gone, short = (place_of(models, files[at]) for at in (1, 4, 9))
    swapped.write_bytes(bytes(files[1].bytes))
    gone.unlink()
    short.write_bytes(b"short")

    assert verify_model(models, files) == [
        f"{files[1].directory}/{files[1].file} has the right size, but not the published content",
        f"{files[4].directory}/{files[4].file} is missing",
        f"{files[9].directory}/{files[9].file} has 5 bytes, not {files[9].bytes}",
    ]
    hub.asked.clear()
    assert fetch()
    assert len(hub.asked) == 2
    assert len(verify_model(models, files)) == 1
    assert fetch(check=True)
    assert_whole(models, files)


# Disks


def test_room_is_checked_before_anything_is_fetched(fetch, hub, small_disk, files, large):
    ballast = fill(small_disk, leave=34 << 20)

    with pytest.raises(DownloadError, match=r"3[56] MB free, but 3 MB .*make room.*--data-dir"):
        fetch(small_disk)
    assert hub.asked == []

    # what came already needs no more room
    for file in files:
        if file.bytes > 100_000:
            path = PartialFolder(small_disk).place_of(file)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(bytes(file.bytes - 1))
            ballast.write_bytes(bytes(max(0, ballast.stat().st_size - file.bytes)))
    assert fetch(small_disk)


def test_a_disk_that_fills_up_ends_it_in_one_line_and_loses_nothing(
    fetch, hub, small_disk, files, large
):
    hub.manners.extend([Manner()] * files.index(large))
    hub.manners.append(Manner(before=lambda: fill(small_disk, leave=200_000)))

    with pytest.raises(DownloadError, match=rf"^{small_disk} is full: make room"):
        fetch(small_disk)
    assert 0 < PartialFolder(small_disk).bytes_of(large) < large.bytes

    (small_disk / "ballast").unlink()
    assert fetch(small_disk)
    assert len(hub.ranges) == 1
    assert_whole(small_disk, files)


def test_a_read_only_folder_works_where_all_is_there_and_says_so_where_not(
    fetch, hub, small_disk, files
):
    fetch(small_disk)
    hub.asked.clear()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)

    assert fetch(small_disk)
    assert fetch(small_disk, check=True)

    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    place_of(small_disk, files[0]).unlink()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(DownloadError, match=rf"^cannot use {small_disk}.*: Read-only file system"):
        fetch(small_disk)
    assert hub.asked == []


# From a folder, and away again


@pytest.mark.parametrize("layout", ["as published", "flat", "cache"])
def test_a_folder_copied_by_hand_is_taken(models, files, tiny_folder, tmp_path, layout):
    brought = tmp_path / "brought"
    wanted = files
    if layout == "as published":
        shutil.copytree(tiny_folder, brought)
    elif layout == "flat":
        wanted = tuple(file for file in files if file.file != "README.md")
        brought.mkdir()
        for file in wanted:
            shutil.copy(place_of(tiny_folder, file), brought)
    else:
        for at, file in enumerate(files):
            blob = brought / "blobs" / str(at)
            blob.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(place_of(tiny_folder, file), blob)
            name = f"models--{file.repository.replace('/', '--')}"
            link = brought / name / "snapshots" / file.revision / file.file
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(blob)

    copy_model(brought, models, wanted)

    assert_whole(models, wanted)
    assert all(path.exists() for path in brought.rglob("*"))


def test_a_folder_with_half_of_it_gives_half(models, files, tiny_folder, tmp_path):
    one = tmp_path / "one"
    shutil.copytree(tiny_folder / files[0].directory, one)

    with pytest.raises(DownloadError, match=r"11 of 18 files are still missing, and not in .*one"):
        copy_model(one, models, files)
    other = tmp_path / "other"
    shutil.copytree(tiny_folder / files[-1].directory, other / files[-1].directory)
    copy_model(other, models, files)
    assert_whole(models, files)
    licence = (models / "MODEL-LICENSE.txt").read_text()
    assert all(file.repository in licence for file in files)


def test_a_folder_with_other_bytes_is_refused(models, files, tiny_folder, tmp_path):
    brought = tmp_path / "brought"
    shutil.copytree(tiny_folder, brought)
    place_of(brought, files[2]).write_bytes(bytes(files[2].bytes))

    with pytest.raises(DownloadError, match=rf"{files[2].file} .*{brought} does not give"):
        copy_model(brought, models, files)
    assert not place_of(models, files[2]).exists()


def test_remove_takes_what_is_ours_and_nothing_else(fetch, hub, models, files, large):
    fetch()
    mine = models / files[0].directory / "mine.txt"
    mine.touch()
    place_of(models, large).unlink()
    half_done(models, large, b"x" * 1000)

    freed = remove_model(models, files)

    expected = sum(file.bytes for file in files) - large.bytes + 1000
    assert 0 < freed - expected < 2000
    assert [path for path in models.rglob("*") if path.is_file()] == [mine]

    mine.unlink()
    remove_model(models, files)
    assert not models.exists()
    assert remove_model(models, files) == 0


def test_remove_does_not_disturb_a_fetch(models, files):
    models.mkdir()

    with (
        PartialFolder(models).held(busy=pytest.fail),
        pytest.raises(DownloadError, match="a fetch is running"),
    ):
        remove_model(models, files)
