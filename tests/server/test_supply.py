"""A server whose model is still being fetched: it says so, tries again, and then speaks."""

import asyncio
import itertools
import threading

import numpy as np
import pytest

from wyoming_moss_nano.embedded import REFERENCES_FOLDER
from wyoming_moss_nano.engine.scheduler import Scheduler
from wyoming_moss_nano.engine.speech import Engine, SpeechOptions
from wyoming_moss_nano.errors import BundleError, DownloadError, ModelNotReadyError
from wyoming_moss_nano.model.bundle import official_codec_id, read_bundle
from wyoming_moss_nano.server.info import build_info
from wyoming_moss_nano.server.reply import Ended, Reply, Started
from wyoming_moss_nano.server.supply import FetchingSupply, growing_pauses
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
