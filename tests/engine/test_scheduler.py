"""Many speeches on two threads: whose turn it is, who waits, and what one's failure is to others.

Nothing here depends on how fast the machine is: where the order of steps matters, the engine is
held back until everything is in place, and the clock moves only when told to.
"""

import faulthandler
import random
import threading
import time
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest

from wyoming_moss_nano.engine.options import SpeechOptions
from wyoming_moss_nano.engine.pace import Recorder
from wyoming_moss_nano.engine.request import MOST_SECONDS_AHEAD
from wyoming_moss_nano.engine.scheduler import Scheduler
from wyoming_moss_nano.engine.utterance import Frame
from wyoming_moss_nano.errors import BundleError, QueueFullError, SpeechError, VoiceError

RATE = 48000
FRAME_SECONDS = 0.08
TEXT = "It rains."  # 3.2 s of sound
TWO = "It rains here. It snows here."
STORY = "The wind blows. It rains here. " * 3
TEN_SECONDS_AND_MORE = "It rains. " * 5
PATIENCE = 30.0  # seconds; reached only where a test fails


def wait_for(event):
    if not event.wait(PATIENCE):
        faulthandler.dump_traceback(all_threads=True)
        pytest.fail("nothing more happens")


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            faulthandler.dump_traceback(all_threads=True)
            pytest.fail("it never comes to that")
        time.sleep(0.002)


class Clock:
    """Time that passes only when told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Listener:
    """Hears one speech, and takes the sound at once unless told not to."""

    def __init__(self, *, takes=True):
        self.takes = takes
        self.chunks = []
        self.ends = []
        self.heard = threading.Event()
        self.finished = threading.Event()
        self.speech = None

    def pcm(self, pcm):
        self.chunks.append(pcm)
        if self.takes:
            self.speech.taken(len(pcm) / RATE)
        self.heard.set()

    def done(self, error):
        self.ends.append(error)
        self.finished.set()

    @property
    def sound(self):
        return np.concatenate(self.chunks).astype(int)

    @property
    def seconds(self):
        return sum(map(len, self.chunks)) / RATE

    @property
    def error(self):
        wait_for(self.finished)
        (error,) = self.ends
        return error


class Stage:
    """An engine that counts steps, can be held back, and can be made to fail.

    Speeches are told apart by their seeds. ``steps`` has the seed of each step in order.
    """

    def __init__(self, engine):
        self._engine = engine
        self.bundle = engine.bundle
        self.steps = []
        self.frames = Counter()
        self.before_step = lambda seed: None
        self.before_decode = lambda seed: None
        self.replace_codec = lambda seed, codec: codec
        self._room = threading.Condition()
        self._allowed = float("inf")

    def hold(self, frames=0):
        """Make no more than so many frames from now on."""
        with self._room:
            self._allowed = frames
            self._room.notify_all()

    def release(self):
        self.hold(float("inf"))

    most_together = 1

    def step(self, utterances):
        return [utterance.step() for utterance in utterances]

    def utter(self, pieces, reference, options):
        return _StagedUtterance(self, self._engine.utter(pieces, reference, options), options.seed)

    def sound(self, options, pace):
        sound = self._engine.sound(options, pace)
        sound._codec = self.replace_codec(options.seed, sound._codec)
        take = sound.take

        def watched_take(events):
            self.before_decode(options.seed)
            return take(events)

        sound.take = watched_take
        return sound

    def enter(self, seed):
        with self._room:
            self._room.wait_for(lambda: self._allowed > 0)
            self._allowed -= 1
        self.before_step(seed)

    def leave(self, seed, event):
        self.steps.append(seed)
        if isinstance(event, Frame):
            self.frames[seed] += 1


class _StagedUtterance:
    def __init__(self, stage, utterance, seed):
        self._stage = stage
        self._utterance = utterance
        self._seed = seed
        self.add = utterance.add
        self.close = utterance.close

    @property
    def idle(self):
        return self._utterance.idle

    def step(self):
        self._stage.enter(self._seed)
        event = self._utterance.step()
        self._stage.leave(self._seed, event)
        return event


EXPECTED = {}  # what the engine alone makes, once for all tests


class House:
    """A scheduler on a stage, and the ways to speak in it."""

    def __init__(self, engine, **options):
        self.engine = engine
        self.stage = Stage(engine)
        self.clock = options.pop("clock", time.monotonic)
        prepare = options.pop("prepare", lambda: None)
        options = {"max_streams": 4, "max_queue": 64, **options}
        self.scheduler = Scheduler(self.stage, prepare, clock=self.clock, **options)

    def open(self, seed=1, *, voice=None, reference=None, takes=True, listener=None, **options):
        listener = listener or Listener(takes=takes)
        codes = self.voice(voice)
        listener.speech = self.scheduler.open(
            reference or (lambda: codes), SpeechOptions(seed=seed, **options), listener
        )
        return listener

    def say(self, text=TEXT, seed=1, **more):
        listener = self.open(seed, **more)
        listener.speech.add(self.engine.pieces(text))
        listener.speech.end()
        return listener

    def voice(self, name=None):
        voices = self.engine.bundle.builtin_voices
        return voices[name or next(iter(voices))]

    def expected(self, text=TEXT, seed=1, voice=None, **options):
        key = (self.engine, text, voice, SpeechOptions(seed=seed, **options))
        if key not in EXPECTED:
            chunks = self.engine.speak(text, self.voice(voice), key[-1], Recorder())
            EXPECTED[key] = np.concatenate(list(chunks)).astype(int)
        return EXPECTED[key]

    def assert_heard(self, listener, text=TEXT, seed=1, **more):
        assert listener.error is None
        assert_same(listener.sound, self.expected(text, seed, **more))

    def assert_speaks(self):
        """Assert that whatever happened, the next one is spoken as ever."""
        self.assert_heard(self.say("Hi.", seed=99), "Hi.", seed=99)

    def settle(self):
        """Wait until the sound of all frames so far was delivered."""
        if isinstance(self.clock, Clock):
            self.clock.now += 1000  # those who came before run dry before this one
        last = self.open(98)
        last.speech.end()
        assert last.error is None

    def close(self):
        self.stage.before_step = self.stage.before_decode = lambda seed: None
        self.stage.release()
        self.scheduler.stop()


def assert_same(heard, expected):
    assert heard.shape == expected.shape
    # grouping frames changes the order of additions: three steps of 16 bits
    assert np.abs(heard - expected).max() <= 3


@pytest.fixture
def build(tiny_engine):
    """Make a house whose scheduler is not running yet."""
    houses = []

    def make(**options):
        houses.append(House(tiny_engine, **options))
        return houses[-1]

    yield make
    for house in houses:
        if house.scheduler._threads[0].ident is not None:
            house.close()
            assert house.scheduler.stopped


@pytest.fixture
def start(build):
    def make(**options):
        house = build(**options)
        house.scheduler.start()
        return house

    return make


@pytest.fixture
def house(start):
    return start()


# What is heard


@pytest.mark.parametrize("mode", ["fixed", "greedy", "full"])
def test_a_speech_sounds_as_the_engine_alone_makes_it(house, mode):
    listener = house.say(TWO, sample_mode=mode)

    house.assert_heard(listener, TWO, sample_mode=mode)
    assert len(listener.chunks) > 3


def test_four_at_once_sound_as_each_would_alone(build):
    house = build()
    names = list(house.engine.bundle.builtin_voices)
    requests = [
        {"text": TWO, "seed": 1, "voice": names[0], "sample_mode": "fixed"},
        {"text": TEXT, "seed": 2, "voice": names[1], "sample_mode": "full"},
        {"text": TEXT, "seed": 3, "voice": names[2], "sample_mode": "greedy"},
        {"text": TWO, "seed": 4, "voice": names[1], "gain_db": 20, "sentence_silence": 1.0},
    ]
    listeners = [house.say(**request) for request in requests]

    house.scheduler.start()

    for listener, request in zip(listeners, requests, strict=True):
        house.assert_heard(listener, **request)
    first_eight = house.stage.steps[:8]
    assert len(set(first_eight)) == 4


def test_stereo_has_two_channels(house):
    listener = house.say(stereo=True)

    house.assert_heard(listener, stereo=True)
    assert listener.sound.shape[1] == 2


def test_a_text_without_anything_speakable_is_a_tenth_of_a_second_of_silence(house):
    listener = house.open()
    listener.speech.add([])
    listener.speech.end()

    assert listener.error is None
    assert len(listener.sound) == RATE // 10
    assert not listener.sound.any()


# Slots and the queue


def spans(steps):
    """Where each speech has its first and its last step."""
    return {
        seed: (steps.index(seed), len(steps) - 1 - steps[::-1].index(seed)) for seed in set(steps)
    }


@pytest.mark.parametrize("streams", [1, 3])
def test_so_many_have_a_slot_and_the_others_wait_in_order_of_arrival(build, streams):
    house = build(max_streams=streams)
    listeners = [house.say(seed=seed) for seed in range(6)]

    house.scheduler.start()

    for seed, listener in enumerate(listeners):
        house.assert_heard(listener, seed=seed)
    steps = house.stage.steps
    span = spans(steps)
    assert list(dict.fromkeys(steps)) == list(range(6))
    open_at_once = [
        sum(first <= now <= last for first, last in span.values()) for now in range(len(steps))
    ]
    assert max(open_at_once) == streams


def test_a_full_queue_is_told_at_once_and_harms_nobody(start):
    house = start(max_streams=1, max_queue=2)
    house.stage.hold()
    earlier = [house.say(seed=seed) for seed in range(3)]

    late = house.open(7)
    with pytest.raises(QueueFullError, match="3 requests are being spoken or waiting"):
        late.speech.add(house.engine.pieces(TEXT))
    late.speech.cancel()
    house.stage.release()

    for seed, listener in enumerate(earlier):
        house.assert_heard(listener, seed=seed)
    assert not late.chunks
    assert not late.ends
    house.assert_speaks()


def test_a_refused_request_may_be_tried_again_when_there_is_room(start):
    house = start(max_streams=1, max_queue=0)
    house.stage.hold()
    first = house.say()
    late = house.open(2)
    with pytest.raises(QueueFullError):
        late.speech.add(house.engine.pieces(TEXT))
    house.stage.release()
    wait_for(first.finished)

    late.speech.add(house.engine.pieces(TEXT))
    late.speech.end()

    house.assert_heard(late, seed=2)


def test_who_is_in_the_queue_may_add_more_while_it_is_full(start):
    house = start(max_streams=1, max_queue=0)
    house.stage.hold()
    listener = house.open()
    first, second = house.engine.pieces(TWO)
    listener.speech.add([first])

    listener.speech.add([second])
    listener.speech.end()
    house.stage.release()

    house.assert_heard(listener, TWO)


def test_without_text_nobody_is_in_the_queue(start):
    house = start(max_streams=1, max_queue=0)
    silent = [house.open(seed) for seed in range(20)]
    for listener in silent:
        listener.speech.add([])

    house.assert_speaks()


@pytest.mark.parametrize("how", ["cancelled", "failed", "finished"])
def test_who_is_through_leaves_its_place_to_another(start, how):
    house = start(max_streams=1, max_queue=0)
    if how == "failed":
        house.stage.before_decode = failing(SpeechError("no"), seed=1)
    first = house.say()
    if how == "cancelled":
        first.speech.cancel()
    else:
        wait_for(first.finished)

    house.assert_speaks()


# Whose turn it is


def test_a_short_announcement_overtakes_a_long_story(start):
    house = start(clock=Clock())
    house.stage.hold(60)
    story = house.say(STORY, seed=1)
    wait_until(lambda: len(house.stage.steps) == 60)

    announcement = house.say(TEXT, seed=2)
    house.stage.release()

    house.assert_heard(announcement, seed=2)
    assert not story.ends
    after = house.stage.steps[60:]
    until_the_announcement_was_made = after[: len(after) - after[::-1].index(2)]
    assert until_the_announcement_was_made.count(1) <= 10
    house.assert_heard(story, STORY)


def test_two_listeners_are_kept_from_running_dry_alike(start):
    house = start(clock=Clock())
    house.stage.hold()
    listeners = [house.say(STORY, seed=seed, takes=False) for seed in (1, 2)]

    house.stage.hold(100)
    wait_until(lambda: len(house.stage.steps) == 100)

    assert abs(house.stage.frames[1] - house.stage.frames[2]) <= 4
    for listener in listeners:
        listener.speech.cancel()


def test_a_stream_that_waited_for_text_does_not_make_up_for_it_at_the_cost_of_others(start):
    clock = Clock()
    house = start(clock=clock)
    stream = house.open(1)
    stream.speech.add(house.engine.pieces(TEXT))
    wait_for(stream.heard)
    wait_until(lambda: stream.speech.idle)
    house.settle()
    house.stage.hold()
    made = house.stage.frames[1]
    stream.speech.add(house.engine.pieces(STORY))
    stream.speech.end()

    announcement = house.say(TEXT, seed=2)
    house.stage.release()

    # both listeners are waiting now: neither is served alone for the time that one had no text
    house.assert_heard(announcement, seed=2)
    steps = house.stage.steps
    by_then = steps[: len(steps) - steps[::-1].index(2)].count(1) - made
    assert by_then <= 2 * house.stage.frames[2]
    assert stream.error is None


def test_on_a_machine_that_is_too_slow_a_newcomer_is_served_too(start):
    clock = Clock()
    house = start(clock=clock)

    def as_slow_as_that(_seed):
        clock.now += 2 * FRAME_SECONDS

    house.stage.before_step = as_slow_as_that
    house.stage.hold(120)
    story = house.say(STORY, seed=1)
    wait_until(lambda: len(house.stage.steps) == 120)

    announcement = house.say(TEXT, seed=2)
    house.stage.release()

    house.assert_heard(announcement, seed=2)
    after = house.stage.steps[120:]
    assert after[: len(after) - after[::-1].index(2)].count(1) <= 2 * house.stage.frames[2]
    assert story.error is None


# Text that is still coming


def test_a_stream_without_a_piece_holds_no_slot(start):
    house = start(max_streams=1)
    stream = house.open(1)

    house.assert_speaks()
    assert not stream.chunks
    stream.speech.add(house.engine.pieces(TEXT))
    stream.speech.end()

    house.assert_heard(stream)


@pytest.mark.parametrize("mode", ["fixed", "greedy", "full"])
def test_a_stream_that_waits_gives_its_slot_away_and_goes_on_uncut(start, mode):
    house = start(max_streams=1)
    stream = house.open(1, sample_mode=mode)
    for piece in house.engine.pieces(TWO):
        stream.speech.add([piece])
        wait_until(lambda: stream.speech.idle)
        house.assert_speaks()
        assert stream.chunks
        assert not stream.ends
    stream.speech.end()

    house.assert_heard(stream, TWO, sample_mode=mode)


def test_a_waiting_stream_has_heard_all_of_its_sentence(house):
    stream = house.open(1)
    stream.speech.add(house.engine.pieces(TEXT))
    whole = len(house.expected(trailing_silence=0)) / RATE

    # the limiter looks a few milliseconds ahead
    wait_until(lambda: stream.seconds > whole - 0.05)

    stream.speech.end()
    house.assert_heard(stream)


def test_a_text_that_ends_later_than_its_sound_ends_the_speech_then(house):
    stream = house.open(1)
    stream.speech.add(house.engine.pieces(TEXT))
    wait_until(lambda: stream.speech.idle)
    house.settle()
    assert not stream.ends

    stream.speech.end()

    house.assert_heard(stream)


# A listener who does not take


def test_a_listener_who_does_not_take_is_left_until_it_does(house):
    text = TEN_SECONDS_AND_MORE
    listener = house.say(text, takes=False)
    wait_until(lambda: listener.speech.seconds_ahead > MOST_SECONDS_AHEAD - 1e-6)

    house.assert_speaks()
    house.assert_speaks()

    made = house.stage.frames[1]
    assert made * FRAME_SECONDS <= MOST_SECONDS_AHEAD + 2 * FRAME_SECONDS
    assert not listener.ends
    listener.speech.taken(2.0)
    wait_until(lambda: house.stage.frames[1] >= made + 20)
    house.assert_speaks()
    assert house.stage.frames[1] * FRAME_SECONDS <= MOST_SECONDS_AHEAD + 2.0 + 2 * FRAME_SECONDS
    listener.takes = True
    listener.speech.taken(listener.seconds - 2.0)
    house.assert_heard(listener, text)


def test_listeners_who_do_not_take_hold_no_slot(start):
    house = start(max_streams=1)
    stalled = [house.say(STORY, seed=seed, takes=False) for seed in (1, 2)]

    house.assert_speaks()

    for listener in stalled:
        assert listener.chunks
        assert not listener.ends
        listener.speech.cancel()


def test_pauses_do_not_let_a_speech_run_further_ahead(start):
    house = start(clock=Clock())
    listener = house.open(1, sentence_silence=10)
    listener.speech.add(house.engine.pieces(TWO))
    wait_until(lambda: listener.speech.idle)
    house.settle()
    taken = listener.seconds
    assert taken > 10

    listener.takes = False
    listener.speech.add(house.engine.pieces("It rains here. " * 15))
    wait_until(lambda: not listener.speech.runnable)
    house.settle()

    # the last pause comes whole, and frames are decoded in groups
    assert listener.seconds - taken <= MOST_SECONDS_AHEAD + 10 + 1
    listener.speech.cancel()


class DeadCodec:
    """A codec that gives sound for some frames, then none."""

    def __init__(self, codec, frames):
        self._codec = codec
        self._frames = frames

    def stream(self):
        decoder = self._codec.stream()
        decode = decoder.decode

        def dying(codes):
            sound = decode(codes)
            alive = max(0, min(self._frames, len(codes)))
            self._frames -= len(codes)
            sound[..., alive * sound.shape[-1] // len(codes) :] = 0
            return sound

        decoder.decode = dying
        return decoder


def test_dead_air_that_is_left_out_does_not_count_as_sound_the_listener_must_take(house):
    house.stage.replace_codec = lambda seed, codec: DeadCodec(codec, 5) if seed == 1 else codec

    listener = house.say(STORY)

    assert listener.error is None
    assert house.stage.frames[1] * FRAME_SECONDS > MOST_SECONDS_AHEAD
    house.assert_speaks()


def test_a_model_that_makes_no_sound_at_all_is_an_error_and_not_an_endless_wait(house):
    house.stage.replace_codec = lambda seed, codec: DeadCodec(codec, 0) if seed == 1 else codec

    listener = house.say(STORY)

    assert isinstance(listener.error, SpeechError)
    assert "no sound" in str(listener.error)
    house.assert_speaks()


# Cancelling


def test_cancelling_stops_within_a_frame_and_nothing_more_is_heard(start):
    house = start(clock=Clock())
    house.stage.hold(20)
    listener = house.say(STORY)
    wait_until(lambda: house.stage.frames[1] == 20)
    house.settle()
    heard = len(listener.chunks)
    assert heard

    listener.speech.cancel()
    house.stage.release()
    house.assert_speaks()

    assert house.stage.frames[1] <= 21
    assert len(listener.chunks) == heard
    assert not listener.ends


@pytest.mark.parametrize("when", ["before text", "in the queue", "while text is awaited", "twice"])
def test_cancelling_is_possible_at_any_time(start, when):
    house = start(max_streams=1)
    house.stage.hold()
    other = house.say(TWO, seed=2)
    listener = house.open()
    if when != "before text":
        listener.speech.add(house.engine.pieces(TEXT))
    if when == "while text is awaited":
        house.stage.release()
        wait_until(lambda: listener.speech.idle)
        house.settle()
    heard = len(listener.chunks)

    listener.speech.cancel()
    listener.speech.end()
    if when == "twice":
        listener.speech.cancel()
    house.stage.release()

    house.assert_heard(other, TWO, seed=2)
    house.assert_speaks()
    assert len(listener.chunks) == heard
    assert not listener.ends


def test_cancelling_after_the_end_is_nothing(house):
    listener = house.say()
    assert listener.error is None

    listener.speech.cancel()

    house.assert_speaks()
    assert listener.ends == [None]


def test_a_listener_may_cancel_from_where_it_hears(house):
    class Leaves(Listener):
        def pcm(self, pcm):
            super().pcm(pcm)
            self.speech.cancel()

    listener = house.say(STORY, listener=Leaves())

    wait_for(listener.heard)
    house.assert_speaks()

    assert len(listener.chunks) == 1
    assert not listener.ends
    assert house.stage.frames[1] < 100


# Failures


def failing(error, seed, after=0):
    """Raise an error for one speech, after some rounds."""
    rounds = iter(range(after))

    def fail(whose):
        if whose == seed and next(rounds, None) is None:
            raise error

    return fail


def bug():
    return RuntimeError("a bug")


@pytest.mark.parametrize("error", [bug(), VoiceError("no such voice")], ids=["bug", "expected"])
def test_a_voice_that_fails_fails_its_own_speech_only(build, error, caplog):
    house = build()

    def reference():
        raise error

    others = [house.say(TWO, seed=2), house.say(seed=3)]
    broken = house.say(reference=reference)
    house.scheduler.start()

    assert_failed(broken, error, caplog)
    house.assert_heard(others[0], TWO, seed=2)
    house.assert_heard(others[1], seed=3)
    house.assert_speaks()
    assert not broken.chunks


@pytest.mark.parametrize("after", [0, 20])
@pytest.mark.parametrize("error", [bug(), SpeechError("no numbers")], ids=["bug", "expected"])
@pytest.mark.parametrize("where", ["before_step", "before_decode"])
def test_a_step_that_fails_fails_its_own_speech_only(build, where, error, after, caplog):
    house = build()
    setattr(house.stage, where, failing(error, seed=1, after=after))
    others = [house.say(TWO, seed=2), house.say(seed=3)]
    broken = house.say(TWO)
    house.scheduler.start()

    assert_failed(broken, error, caplog)
    house.assert_heard(others[0], TWO, seed=2)
    house.assert_heard(others[1], seed=3)
    house.assert_speaks()
    # nothing came after the end
    assert len(broken.ends) == 1


def assert_failed(listener, error, caplog):
    told = listener.error
    if isinstance(error, RuntimeError):
        assert isinstance(told, SpeechError)
        assert "unexpectedly" in str(told)
        assert "a bug" in caplog.text
    else:
        assert told is error
        assert not [record for record in caplog.records if record.exc_info]


def test_a_failure_while_text_is_still_coming_is_told_before_the_text_is_complete(house):
    house.stage.before_step = failing(SpeechError("no numbers"), seed=1, after=3)
    stream = house.open()
    stream.speech.add(house.engine.pieces(TEXT))

    assert str(stream.error) == "no numbers"
    stream.speech.add(house.engine.pieces(TEXT))
    stream.speech.end()

    house.assert_speaks()
    assert len(stream.ends) == 1


@pytest.mark.parametrize("where", ["pcm", "done"])
def test_an_outlet_that_fails_harms_nobody_else(build, where):
    class Broken(Listener):
        def pcm(self, pcm):
            super().pcm(pcm)
            if where == "pcm":
                raise bug()

        def done(self, error):
            super().done(error)
            if where == "done":
                raise bug()

    house = build()
    broken = house.say(TWO, listener=Broken())
    other = house.say(seed=2)
    house.scheduler.start()

    wait_for(broken.finished)
    house.assert_heard(other, seed=2)
    house.assert_speaks()
    assert len(broken.ends) == 1


# Before the first frame


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("error", [BundleError("files are missing"), bug()], ids=["bundle", "bug"])
def test_a_model_that_cannot_be_prepared_fails_every_speech(build, error, caplog):
    go = threading.Event()

    def prepare():
        wait_for(go)
        raise error

    house = build(prepare=prepare)
    early = [house.say(seed=seed) for seed in (1, 2)]
    stream = house.open(3)
    house.scheduler.start()
    early.append(house.say(seed=4))

    go.set()

    late = []
    for listener in (*early, stream):
        told = listener.error
        assert told is error or isinstance(told, SpeechError | BundleError)
        assert not listener.chunks
        late.append(house.say(seed=5))
    for listener in late:
        assert type(listener.error) is type(stream.error)
        assert not listener.chunks
    if isinstance(error, BundleError):
        assert stream.error is error
    assert str(error) in caplog.text


def test_requests_wait_while_the_model_is_being_prepared_and_then_speak(build):
    go = threading.Event()
    house = build(prepare=lambda: wait_for(go))
    before = house.say(seed=1)
    house.scheduler.start()
    during = house.say(TWO, seed=2)
    gone = house.say(seed=3)
    gone.speech.cancel()
    assert not house.stage.steps

    go.set()

    house.assert_heard(before, seed=1)
    house.assert_heard(during, TWO, seed=2)
    assert not gone.chunks


def test_the_queue_has_its_bound_while_the_model_is_being_prepared(build):
    go = threading.Event()
    house = build(prepare=lambda: wait_for(go), max_streams=1, max_queue=1)
    house.scheduler.start()
    listeners = [house.say(seed=seed) for seed in (1, 2)]

    late = house.open(3)
    with pytest.raises(QueueFullError):
        late.speech.add(house.engine.pieces(TEXT))
    go.set()

    for seed, listener in zip((1, 2), listeners, strict=True):
        house.assert_heard(listener, seed=seed)


# The end


def test_stopping_ends_both_threads_in_the_middle_of_a_story(house):
    stories = [house.say(STORY, seed=seed) for seed in range(6)]
    wait_for(stories[0].heard)

    house.scheduler.stop()

    assert house.scheduler.stopped
    heard = [len(story.chunks) for story in stories]
    assert not any(story.ends for story in stories)
    for story in stories:
        story.speech.taken(1.0)
        story.speech.cancel()
    assert [len(story.chunks) for story in stories] == heard


def test_stopping_while_nothing_happens(house):
    assert not house.scheduler.stopped

    house.scheduler.stop()

    assert house.scheduler.stopped


def test_stopping_before_anything_began(build):
    house = build()
    listener = house.say()

    house.scheduler.stop()

    assert house.scheduler.stopped
    assert not listener.ends


def test_stopping_after_the_model_could_not_be_prepared(build):
    def prepare():
        raise BundleError("files are missing")

    house = build(prepare=prepare)
    house.scheduler.start()
    assert isinstance(house.say().error, BundleError)

    house.scheduler.stop()

    assert house.scheduler.stopped


def test_stopping_does_not_wait_for_ever_for_a_model_that_is_being_loaded(build):
    go = threading.Event()
    house = build(prepare=lambda: wait_for(go))
    house.scheduler.start()

    house.scheduler.stop()
    assert not house.scheduler.stopped

    go.set()
    wait_until(lambda: house.scheduler.stopped)
    assert not house.stage.steps


# All of it at once

CUT = {"max_frames": 6}


class Crowd:
    """Clients on threads of their own, who do what their random numbers say."""

    def __init__(self, house, clients, requests):
        self.house = house
        self.requests = requests
        self.heard = []  # listener, text, seed
        self.gone = []
        self._lock = threading.Lock()
        self._errors = []
        self._threads = [
            threading.Thread(target=self._run, args=(random.Random(number),), daemon=True)
            for number in range(clients)
        ]

    def join(self):
        for thread in self._threads:
            thread.start()
        for thread in self._threads:
            thread.join(PATIENCE)
            if thread.is_alive():
                faulthandler.dump_traceback(all_threads=True)
                pytest.fail("a client is stuck")
        assert not self._errors

    def _run(self, chance):
        try:
            for _ in range(self.requests):
                self._request(chance)
        except Exception as error:
            self._errors.append(error)
            raise

    def _request(self, chance):
        text = chance.choice(["Hi.", TEXT, TWO, "Good night. Hi."])
        seed = chance.randrange(3)
        listener = self.house.open(seed, takes=chance.random() < 0.7, **CUT)
        cancelled = chance.random() < 0.3
        with self._lock:
            (self.gone if cancelled else self.heard).append((listener, text, seed))
        for piece in self.house.engine.pieces(text):
            listener.speech.add([piece])
            if cancelled and chance.random() < 0.5:
                break
            if chance.random() < 0.3:
                time.sleep(chance.random() * 0.02)
        if not cancelled or chance.random() < 0.5:
            listener.speech.end()
        if cancelled:
            time.sleep(chance.random() * 0.03)
            listener.speech.cancel()
        if chance.random() < 0.5:
            listener.takes = True
            listener.speech.taken(listener.seconds)
        if chance.random() < 0.3:
            listener.speech.cancel() if cancelled else wait_for(listener.finished)


@contextmanager
def quick_switches():
    import sys

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def test_a_crowd_is_served_to_the_last_one(start):
    house = start(max_streams=3, max_queue=500)
    crowd = Crowd(house, clients=5, requests=40)

    with quick_switches():
        crowd.join()
        for listener, _, _ in crowd.heard:
            wait_for(listener.finished)

    assert len(crowd.heard) + len(crowd.gone) == 200
    for listener, text, seed in crowd.heard:
        assert listener.ends == [None]
        house.assert_heard(listener, text, seed, **CUT)
    for listener, _, _ in crowd.gone:
        assert listener.ends in ([], [None])
    assert all(thread.is_alive() for thread in house.scheduler._threads)
    assert not house.scheduler._speeches
    house.assert_speaks()
