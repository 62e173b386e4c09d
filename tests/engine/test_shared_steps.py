"""Speeches that are due together share the steps of an engine that makes frames together.

Nothing here depends on how fast the machine is: the clock moves only when told to, and steps are
held back until everything is in place.
"""

import threading
from contextlib import contextmanager

import numpy as np
import pytest

from wyoming_moss_nano.engine.options import SpeechOptions
from wyoming_moss_nano.engine.pace import Recorder
from wyoming_moss_nano.engine.scheduler import Scheduler
from wyoming_moss_nano.errors import SpeechError

TEXT = "It rains."
PATIENCE = 30.0  # seconds; reached only where a test fails


class WatchedEngine:
    """A real engine; ``groups`` has the seeds of each step in order."""

    def __init__(self, engine, most_together):
        self._engine = engine
        self.most_together = most_together
        self.groups = []
        self.before_step = lambda seeds: None
        self._seeds = {}
        self._room = threading.Condition()
        self._allowed = float("inf")

    def __getattr__(self, name):
        return getattr(self._engine, name)

    def hold(self, steps=0):
        """Make no more than so many steps from now on."""
        with self._room:
            self._allowed = steps
            self._room.notify_all()

    def release(self):
        self.hold(float("inf"))

    def utter(self, pieces, reference, options):
        utterance = self._engine.utter(pieces, reference, options)
        self._seeds[utterance] = options.seed
        return utterance

    def step(self, utterances):
        seeds = [self._seeds[utterance] for utterance in utterances]
        with self._room:
            self._room.wait_for(lambda: self._allowed > 0)
            self._allowed -= 1
        self.before_step(seeds)
        events = self._engine.step(utterances)
        self.groups.append(seeds)
        return events

    def wait_for_steps(self, count):
        deadline = threading.Event()
        for _ in range(int(PATIENCE / 0.005)):
            if len(self.groups) >= count:
                return
            deadline.wait(0.005)
        pytest.fail("nothing more happens")


class Listener:
    """Hears one speech and takes the sound at once."""

    def __init__(self):
        self.chunks = []
        self.finished = threading.Event()
        self.speech = self.error = None

    def pcm(self, pcm):
        self.chunks.append(pcm)
        self.speech.taken(len(pcm) / 48000)

    def done(self, error):
        self.error = error
        self.finished.set()


class House:
    """A scheduler on a watched engine; the clock stands still."""

    def __init__(self, engine, most_together):
        self.engine = engine
        self.watched = WatchedEngine(engine, most_together)
        self.scheduler = Scheduler(
            self.watched, lambda: None, max_streams=8, max_queue=8, clock=lambda: 100.0
        )

    def say(self, seed, text=TEXT, frames=12, mode="fixed"):
        listener = Listener()
        listener.options = SpeechOptions(seed=seed, max_frames=frames, sample_mode=mode)
        listener.speech = self.scheduler.open(self.reference, listener.options, listener)
        listener.speech.add(self.engine.pieces(text))
        listener.speech.end()
        return listener

    def reference(self):
        return next(iter(self.engine.bundle.builtin_voices.values()))

    def assert_heard(self, listener, text=TEXT):
        assert listener.finished.wait(PATIENCE)
        assert listener.error is None
        alone = self.engine.speak(text, self.reference(), listener.options, Recorder())
        expected = np.concatenate(list(alone)).astype(int)
        heard = np.concatenate(listener.chunks).astype(int)
        assert heard.shape == expected.shape
        # grouping frames changes the order of the codec's additions: three steps of 16 bits
        assert np.abs(heard - expected).max() <= 3


@pytest.fixture
def house(new_compiled_engine):
    """A house whose scheduler is not running yet."""
    houses = []

    @contextmanager
    def stopped_at_the_end(made):
        yield made
        made.watched.before_step = lambda seeds: None
        made.watched.release()
        made.scheduler.stop()
        assert made.scheduler.stopped

    def make(precision="fp32", most_together=8):
        context = stopped_at_the_end(House(new_compiled_engine(precision), most_together))
        houses.append(context)
        return context.__enter__()

    yield make
    for context in houses:
        context.__exit__(None, None, None)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_four_that_are_due_together_share_steps_and_sound_as_each_would_alone(house, precision):
    four = house(precision)
    listeners = [four.say(seed) for seed in (1, 2, 3, 4)]

    four.scheduler.start()

    for listener in listeners:
        four.assert_heard(listener)
    assert [sorted(group) for group in four.watched.groups[:6]] == [
        [1], [2], [3], [4], [1, 2, 3, 4], [1, 2, 3, 4]
    ]  # fmt: skip
    # twelve frames and the end of each, one step of it alone
    assert len(four.watched.groups) == 4 + 12


def test_no_more_share_a_step_than_the_engine_likes(house):
    five = house(most_together=3)
    listeners = [five.say(seed) for seed in range(5)]

    five.scheduler.start()

    for listener in listeners:
        five.assert_heard(listener)
    assert max(map(len, five.watched.groups)) == 3


def test_an_engine_that_makes_frames_one_by_one_is_given_one_at_a_time(house):
    one = house(most_together=1)
    listeners = [one.say(seed) for seed in range(3)]

    one.scheduler.start()

    for listener in listeners:
        one.assert_heard(listener)
    assert set(map(len, one.watched.groups)) == {1}


def test_a_newcomer_goes_first_and_alone_and_overtakes_those_who_are_ahead(house):
    some = house()
    some.watched.hold(2 + 20)
    stories = [some.say(seed, frames=60) for seed in (1, 2)]
    some.scheduler.start()
    some.watched.wait_for_steps(22)

    # one step may have been chosen already
    announcement = some.say(9, frames=10)
    some.watched.release()

    for listener in (*stories, announcement):
        some.assert_heard(listener)
    after = some.watched.groups[22:]
    first = after.index([9])
    assert first <= 1
    assert after[first : first + 10] == [[9]] * 10


def test_modes_mix_in_a_step(house):
    mixed = house()
    listeners = [
        mixed.say(seed, mode=mode) for seed, mode in enumerate(("fixed", "greedy", "full", "fixed"))
    ]

    mixed.scheduler.start()

    for listener in listeners:
        mixed.assert_heard(listener)
    assert [0, 1, 2, 3] in map(sorted, mixed.watched.groups)


def test_a_step_that_fails_fails_those_in_it_and_nobody_else(house):
    pairs = house(most_together=2)
    failed = []

    def before_step(seeds):
        if 1 in seeds and len(seeds) == 2:
            failed.append(seeds)
            raise SpeechError("a graph failed")

    pairs.watched.before_step = before_step
    listeners = {seed: pairs.say(seed) for seed in (1, 2, 3, 4)}
    pairs.scheduler.start()

    for listener in listeners.values():
        assert listener.finished.wait(PATIENCE)
    (together,) = failed
    for seed, listener in listeners.items():
        if seed in together:
            assert str(listener.error) == "a graph failed"
        else:
            pairs.assert_heard(listener)


def test_who_leaves_during_a_step_leaves_the_others_alone(house):
    four = house()
    listeners = {seed: four.say(seed) for seed in (1, 2, 3, 4)}

    def before_step(seeds):
        if len(seeds) == 4:
            listeners[2].speech.cancel()

    four.watched.before_step = before_step
    four.scheduler.start()

    for seed in (1, 3, 4):
        four.assert_heard(listeners[seed])
    assert not listeners[2].finished.is_set()
    assert sum(2 in group for group in four.watched.groups) == 2


@pytest.mark.parametrize("how", ["cancelled", "failed"])
def test_who_is_through_early_gives_its_room_in_the_model_back(house, how):
    busy = house()
    memory = busy.engine._generator._transformer._memory
    busy.scheduler.start()

    for seed in range(12):
        if how == "failed":
            busy.watched.before_step = failing_at_third(busy.watched)
        listener = busy.say(seed, frames=60)
        if how == "failed":
            assert listener.finished.wait(PATIENCE)
            assert listener.error is not None
        else:
            busy.watched.wait_for_steps(len(busy.watched.groups) + 2)
            listener.speech.cancel()
    busy.watched.before_step = lambda seeds: None

    busy.assert_heard(busy.say(99))
    # of thirteen speeches never more than two had room at the same time
    assert len(memory._buffers[0]) <= 2
    busy.scheduler.stop()
    assert memory._lengths == {}


def failing_at_third(watched):
    begun = len(watched.groups)

    def before_step(seeds):
        if len(watched.groups) == begun + 2:
            raise SpeechError("a graph failed")

    return before_step
