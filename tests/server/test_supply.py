"""A model that is fetched, loaded, and replaced by a better one, while the server answers."""

import asyncio
import gc
import itertools
import threading
import weakref

import numpy as np
import pytest

from wyoming_moss_nano.embedded import REFERENCES_FOLDER
from wyoming_moss_nano.engine.options import SpeechOptions
from wyoming_moss_nano.engine.scheduler import Scheduler
from wyoming_moss_nano.engine.speech import Engine
from wyoming_moss_nano.errors import BundleError, DownloadError, ModelNotReadyError
from wyoming_moss_nano.model.bundle import official_codec_id, read_bundle
from wyoming_moss_nano.server.info import build_info
from wyoming_moss_nano.server.reply import Ended, Reply, Started
from wyoming_moss_nano.server.supply import (
    FetchingSupply,
    ImprovingSupply,
    LocalSupply,
    growing_pauses,
)
from wyoming_moss_nano.server.voicebox import Speaker, Voicebox
from wyoming_moss_nano.text.reading import Reading
from wyoming_moss_nano.voices.store import Places, VoiceStore


@pytest.fixture
def voicebox(tmp_path):
    places = Places(REFERENCES_FOLDER, tmp_path / "voices", tmp_path / "voices.yaml")
    return Voicebox(
        VoiceStore({}, ("en",), official_codec_id(), places), SpeechOptions(), "official"
    )


@pytest.fixture
def supplied(voicebox, tiny_folder):
    """Start a supply with a fetch; the tiny bundle stands on disk when it has returned."""
    supplies = []

    def load():
        bundle = read_bundle(tiny_folder)
        engine = Engine.load(bundle, threads=1)
        return Speaker(engine, Scheduler(engine, lambda: None, max_streams=2, max_queue=2))

    def start(fetch, load=load):
        supply = FetchingSupply(voicebox, fetch, load, lambda: itertools.repeat(0.0))
        supplies.append(supply)
        supply.start()
        return supply

    yield start
    for supply in supplies:
        supply.stop()
        assert supply.stopped


async def answer(voicebox):
    """What a request gets: kinds of events, the samples, and the error, if any."""
    reply = Reply(voicebox, voicebox.voices.choose(None, None).voice, Reading(), streamed=False)
    await reply.add("Dinner is ready.")
    await reply.end()
    kinds, samples = [], 0
    while not isinstance(event := await reply.events.get(), Ended):
        kinds.append(type(event))
        if isinstance(event, np.ndarray):
            samples += len(event)
            reply.taken(len(event) / 48000)
    return kinds, samples, event.error


async def until_ready(voicebox):
    while True:
        try:
            return voicebox.speaker()
        except ModelNotReadyError:
            await asyncio.sleep(0.01)


async def test_a_request_before_the_model_is_there_hears_how_far_it_is(voicebox, supplied):
    told, go_on = threading.Event(), threading.Event()

    def fetch(on_percent, cancelled):
        on_percent(41.7)
        told.set()
        go_on.wait()

    supplied(fetch)
    await asyncio.to_thread(told.wait)
    kinds, samples, error = await answer(voicebox)
    assert (kinds, samples) == ([], 0)
    assert isinstance(error, ModelNotReadyError)
    assert "42 %" in str(error)

    go_on.set()
    await until_ready(voicebox)
    kinds, samples, error = await answer(voicebox)
    assert kinds[0] is Started
    assert samples > 24000
    assert error is None


def test_the_voices_that_will_speak_are_offered_meanwhile(voicebox):
    (program,) = build_info(voicebox.kind, voicebox.voices, streaming=True).tts

    assert [voice.name for voice in program.voices] == ["jay", "lark", "wren"]
    assert all(voice.installed for voice in program.voices)


async def test_a_fetch_that_failed_is_tried_again(voicebox, supplied, caplog):
    failures = iter([DownloadError("no network"), DownloadError("no disk")])

    def fetch(on_percent, cancelled):
        for failure in failures:
            raise failure

    supplied(fetch)
    await until_ready(voicebox)

    assert "no network" in caplog.text
    assert "no disk" in caplog.text
    assert (await answer(voicebox))[2] is None


async def test_while_a_fetch_waits_to_be_tried_again_its_reason_is_told(voicebox):
    failed = threading.Event()

    def fetch(on_percent, cancelled):
        failed.set()
        raise DownloadError("no network")

    supply = FetchingSupply(voicebox, fetch, lambda: None, lambda: iter([60.0]))
    supply.start()
    await asyncio.to_thread(failed.wait)
    while "no network" not in str((await answer(voicebox))[2]):
        await asyncio.sleep(0.01)
    supply.stop()
    assert supply.stopped


async def test_a_model_that_cannot_be_loaded_is_told_and_not_fetched_for_ever(voicebox, supplied):
    fetched = []

    def load():
        raise BundleError("a graph is cut off")

    supplied(lambda on_percent, cancelled: fetched.append(1), load)
    while "a graph is cut off" not in str((await answer(voicebox))[2]):
        await asyncio.sleep(0.01)
    assert fetched == [1]


def test_stopping_ends_a_fetch_that_is_running(voicebox):
    running = threading.Event()

    def fetch(on_percent, cancelled):
        running.set()
        cancelled.wait()
        raise DownloadError("stopped")

    supply = FetchingSupply(voicebox, fetch, lambda: None)
    supply.start()
    running.wait()

    supply.stop()

    assert supply.stopped


def test_pauses_grow_to_a_quarter_of_an_hour():
    assert list(itertools.islice(growing_pauses(), 8)) == [30, 60, 120, 240, 480, 900, 900, 900]


# Something better, once it is there


@pytest.fixture
def tiny_speaker(tiny_folder):
    """Make what speaks the tiny bundle; ``prepare`` is what its graphs take."""

    def make(prepare=lambda: None):
        engine = Engine.load(read_bundle(tiny_folder), threads=1)
        return Speaker(engine, Scheduler(engine, prepare, max_streams=2, max_queue=2))

    return make


@pytest.fixture
def improving(voicebox, tiny_speaker):
    """Start a supply that speaks at once and improves by what a test says."""
    supplies = []

    def start(improve, first=None):
        supply = ImprovingSupply(voicebox, first or LocalSupply(voicebox, tiny_speaker()), improve)
        supplies.append(supply)
        supply.start()
        return supply

    yield start
    for supply in supplies:
        supply.stop()
        assert supply.stopped


async def until(condition):
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


async def test_what_speaks_is_replaced_and_the_old_leaves_memory(voicebox, improving, tiny_speaker):
    go_on = threading.Event()
    better = tiny_speaker()

    def improve(cancelled):
        go_on.wait()
        return better

    improving(improve)
    old = weakref.ref(voicebox.speaker().engine)
    assert (await answer(voicebox))[2] is None
    go_on.set()
    await until(lambda: voicebox.speaker() is better)
    assert (await answer(voicebox))[2] is None

    await until(lambda: gc.collect() + 1 and old() is None)


async def test_who_is_being_spoken_to_hears_the_end_from_what_began(
    voicebox, improving, tiny_speaker
):
    go_on = threading.Event()
    better = tiny_speaker()

    def improve(cancelled):
        go_on.wait()
        return better

    improving(improve)
    first = voicebox.speaker()
    voice = voicebox.voices.choose(None, None).voice
    reply = Reply(voicebox, voice, Reading(), streamed=True)
    await reply.add("Dinner is ready now. The night is going to be good. ")
    await until(lambda: not reply.events.empty())
    go_on.set()
    await until(lambda: voicebox.speaker() is better)
    await asyncio.sleep(1.5)  # the old one is looked at once a second
    assert not first.scheduler.stopped

    await reply.add("Sleep well, all of you.")
    await reply.end()
    samples = 0
    while not isinstance(event := await reply.events.get(), Ended):
        if isinstance(event, np.ndarray):
            samples += len(event)
            reply.taken(len(event) / 48000)

    assert event.error is None
    assert samples > 48000
    await until(lambda: first.scheduler.stopped)


@pytest.mark.parametrize("error", [BundleError("it came out wrong"), RuntimeError("a bug")])
async def test_what_cannot_be_improved_speaks_on(voicebox, improving, caplog, error):
    def improve(cancelled):
        raise error

    improving(improve)
    first = voicebox.speaker()
    await until(lambda: str(error) in caplog.text)

    assert voicebox.speaker() is first
    assert (await answer(voicebox))[2] is None


async def test_something_better_that_cannot_be_loaded_replaces_nothing(
    voicebox, improving, tiny_speaker, caplog
):
    def fail():
        raise BundleError("a graph is cut off")

    better = tiny_speaker(fail)
    improving(lambda cancelled: better)
    first = voicebox.speaker()
    await until(lambda: "Speaking on as before: a graph is cut off" in caplog.text)

    assert voicebox.speaker() is first
    assert (await answer(voicebox))[2] is None
    await until(lambda: better.scheduler.stopped)


def test_stopping_ends_an_improvement_that_is_being_made(voicebox, improving):
    begun = threading.Event()

    def improve(cancelled):
        begun.set()
        cancelled.wait()

    supply = improving(improve)
    begun.wait()

    supply.stop()

    assert supply.stopped


def test_stopping_ends_something_better_that_is_being_loaded(voicebox, improving, tiny_speaker):
    loading, go_on = threading.Event(), threading.Event()

    def load():
        loading.set()
        go_on.wait(1.0)

    better = tiny_speaker(load)
    supply = improving(lambda cancelled: better)
    loading.wait()

    supply.stop()

    assert supply.stopped
    assert voicebox.speaker() is not better


def test_nothing_is_improved_before_something_speaks(voicebox):
    asked = []

    class Nothing:
        stopped = True

        def start(self):
            pass

        def stop(self):
            pass

    supply = ImprovingSupply(voicebox, Nothing(), asked.append)
    supply.start()
    supply.stop()

    assert asked == []
    assert supply.stopped
