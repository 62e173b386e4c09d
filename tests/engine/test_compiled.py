"""Compiled graphs make the published ones' frames, each piece's as if it were alone."""

import numpy as np
import pytest

from wyoming_moss_nano.engine.compiled import (
    CompiledTransformer,
    KeyValues,
    Prefix,
    PrefixCache,
)
from wyoming_moss_nano.engine.options import SpeechOptions
from wyoming_moss_nano.engine.utterance import Frame, PieceEnd
from wyoming_moss_nano.errors import SpeechError
from wyoming_moss_nano.model.compiled import MOST_ROWS, CompiledSessions
from wyoming_moss_nano.model.sessions import Graph

PRECISIONS = ("fp32", "int8")
MODES = ("fixed", "greedy", "full")
TEXT = "The front door has been open for ten minutes."
TWO = "Dinner is ready now. The night is good."
# The most frames of a piece of each of four speeches: they end one after the other.
LENGTHS = (6, 10, 13, 17)


@pytest.fixture(params=PRECISIONS)
def precision(request):
    return request.param


@pytest.fixture
def engine(compiled_engine, precision):
    return compiled_engine(precision)


@pytest.fixture
def own_engine(new_compiled_engine, precision):
    return new_compiled_engine(precision)


@pytest.fixture
def transformer(tiny_bundle, compiled, precision):
    return CompiledTransformer(tiny_bundle, CompiledSessions(compiled(precision), threads=1))


def opened(engine, text=TEXT, seed=1, voice=0, mode="fixed", frames=12):
    reference = list(engine.bundle.builtin_voices.values())[voice]
    options = SpeechOptions(seed=seed, sample_mode=mode, max_frames=frames)
    return engine.utter(engine.pieces(text), reference, options)


def frames_of(utterance):
    events = iter(utterance.step, None)
    return [event.codes.tolist() for event in events if isinstance(event, Frame)]


def take(heard, place, event):
    if isinstance(event, Frame):
        heard[place].append(event.codes.tolist())


# Against the published graphs


@pytest.mark.parametrize("mode", MODES)
def test_fp32_makes_the_published_graphs_frames_to_the_end(compiled_engine, tiny_engine, mode):
    ours, published = (
        frames_of(opened(engine, TWO, voice=1, mode=mode, frames=375))
        for engine in (compiled_engine("fp32"), tiny_engine)
    )

    assert ours == published
    assert len(published) > 50


@pytest.mark.parametrize("mode", MODES)
def test_int8_stops_about_where_the_published_graphs_do(compiled_engine, tiny_engine, mode):
    ours, published = (
        len(frames_of(opened(engine, TWO, mode=mode, frames=375)))
        for engine in (compiled_engine("int8"), tiny_engine)
    )

    assert ours == pytest.approx(published, rel=0.25)


def test_another_seed_is_other_speech_unless_nothing_is_left_to_chance(engine):
    for mode, differs in (("fixed", True), ("full", True), ("greedy", False)):
        first, second = (frames_of(opened(engine, seed=seed, mode=mode)) for seed in (7, 8))
        assert (first != second) is differs


# A row's result does not depend on the other rows


def test_a_row_is_the_same_bit_for_bit_whatever_shares_its_call(transformer, tiny_bundle):
    generator = np.random.default_rng(0)
    voices = list(tiny_bundle.builtin_voices.values())

    def eight():
        opened = [transformer.open(voices[i % 3], list(range(280, 281 + i))) for i in range(8)]
        transformer.read([(reading, None) for reading in opened])
        return opened

    codes = generator.integers(0, 64, (8, 16)).astype(np.int32)
    alone = [transformer.read([step])[0] for step in zip(eight(), codes, strict=True)]

    for entries in (2, 4, 8):
        steps = list(zip(eight(), codes, strict=True))[:entries]
        np.testing.assert_array_equal(transformer.read(steps), alone[:entries])


@pytest.mark.parametrize("mode", ["fixed", "greedy"])
def test_four_together_make_the_frames_each_makes_alone(engine, mode):
    def four():
        return [opened(engine, TWO, i, i % 3, mode, frames) for i, frames in enumerate(LENGTHS)]

    alone, together = [frames_of(utterance) for utterance in four()], four()
    heard = [[] for _ in together]

    while going := [i for i, utterance in enumerate(together) if not utterance.idle]:
        for place, event in zip(going, engine.step([together[i] for i in going]), strict=True):
            take(heard, place, event)

    assert heard == alone
    assert list(map(len, heard)) == [2 * frames for frames in LENGTHS]


def test_each_may_use_a_mode_of_its_own(engine):
    alone = [frames_of(opened(engine, mode=mode)) for mode in MODES]
    together = [opened(engine, mode=mode) for mode in MODES]
    heard = [[] for _ in together]

    while not all(utterance.idle for utterance in together):
        for place, event in enumerate(engine.step(together)):
            take(heard, place, event)

    assert heard == alone


def test_company_that_comes_and_goes_changes_nothing(engine):
    generator = np.random.default_rng(0)
    requests = [
        {"text": TWO, "seed": i, "voice": i % 3, "frames": LENGTHS[i % 4]} for i in range(12)
    ]
    alone = [frames_of(opened(engine, **request)) for request in requests]
    heard = [[] for _ in requests]
    waiting, going = list(enumerate(requests)), {}

    while waiting or going:
        # up to seven at once, begun at any time: slots are freed, reused, and added to the four
        while waiting and len(going) < 7 and generator.random() < 0.3:
            place, request = waiting.pop(0)
            going[place] = opened(engine, **request)
        stepped = [place for place in going if generator.random() < 0.6]
        generator.shuffle(stepped)
        for place, event in zip(stepped, engine.step([going[i] for i in stepped]), strict=True):
            take(heard, place, event)
            if going[place].idle:
                del going[place]

    assert heard == alone


def test_who_is_left_out_of_a_step_is_not_touched_by_it(engine):
    """Slots between those of a step are run along, as they lie in the same buffer."""
    alone = frames_of(opened(engine, seed=2))
    outer = [opened(engine, seed=seed, frames=60) for seed in (1, 3)]
    between = opened(engine, seed=2)
    heard = [[]]
    for utterance in (outer[0], between, outer[1]):
        event = utterance.step()
        if utterance is between:
            take(heard, 0, event)

    while not between.idle:
        for _ in range(3):
            engine.step(outer)
        take(heard, 0, between.step())

    assert heard == [alone]


def test_a_piece_that_is_given_up_leaves_its_slot_to_the_next(own_engine, tiny_bundle):
    memory = own_engine._generator._transformer._memory
    slots = set()
    for seed in range(10):
        utterance = opened(own_engine, seed=seed)
        utterance.step()
        slots.add(utterance._piece.reading.slot)
        utterance.close()

    assert slots == {0}
    assert memory._lengths == {}


def test_two_engines_share_nothing(engine, own_engine):
    alone = [frames_of(opened(engine, seed=1)), frames_of(opened(own_engine, seed=2))]
    utterances = [opened(engine, seed=1), opened(own_engine, seed=2)]
    heard = [[], []]

    while not all(utterance.idle for utterance in utterances):
        for place, utterance in enumerate(utterances):
            take(heard, place, utterance.step())

    assert heard == alone


# The rows before the text


@pytest.fixture
def runs(monkeypatch):
    """Return the numbers of rows [entries, rows] that the global graph is given from now on."""
    shapes = []
    run_into = Graph.run_into

    def noted(self, inputs, outputs):
        shapes.append(inputs["input_ids"].shape[:2])
        run_into(self, inputs, outputs)

    monkeypatch.setattr(Graph, "run_into", noted)
    return shapes


def test_a_voice_read_before_and_the_text_after_it_are_the_whole_prompt_bit_for_bit(
    transformer, tiny_bundle
):
    reference, text = tiny_bundle.builtin_voices["alder"], list(range(280, 290))
    layout = transformer._layout
    slot = transformer._memory.take()
    whole = transformer._read_rows(slot, layout.prompt(reference, text))

    first, again = (transformer.read([(transformer.open(reference, text), None)]) for _ in range(2))

    np.testing.assert_array_equal(first[0], whole)
    np.testing.assert_array_equal(again[0], whole)


def test_a_voice_is_read_once(transformer, tiny_bundle, runs):
    layout = transformer._layout
    voices = list(tiny_bundle.builtin_voices.values())
    text = list(range(280, 288))
    spoken = [0, 1, 0, 0, 1]

    for voice in spoken:
        transformer.read([(transformer.open(voices[voice], text), None)])

    rows = [len(layout.voice_rows(voices[voice])) for voice in (0, 1)]
    after = (1, len(layout.speech_rows(text)))
    assert runs == [(1, rows[0]), after, (1, rows[1]), after, after, after, after]


def test_a_speech_of_several_pieces_reads_its_voice_once(own_engine, runs):
    layout = own_engine._generator._transformer._layout
    utterance = opened(own_engine, TWO)

    pieces = sum(isinstance(event, PieceEnd) for event in iter(utterance.step, None))

    reference = next(iter(own_engine.bundle.builtin_voices.values()))
    assert pieces > 1
    assert runs.count((1, len(layout.voice_rows(reference)))) == 1


def prefix(rows):
    return Prefix(rows, [np.zeros((2, rows, 4), np.float32)] * 2)


def test_voices_that_were_not_heard_for_longest_make_room():
    kept = PrefixCache(budget=3 * prefix(10).nbytes)
    for name in (b"a", b"b", b"c"):
        kept.put(name, prefix(10))
    kept.get(b"a")

    kept.put(b"d", prefix(10))

    assert [name for name in (b"a", b"b", b"c", b"d") if kept.get(name)] == [b"a", b"c", b"d"]
    assert kept.nbytes == 3 * prefix(10).nbytes


def test_a_voice_that_fits_nowhere_is_not_kept():
    kept = PrefixCache(budget=prefix(10).nbytes)

    kept.put(b"long", prefix(11))

    assert kept.get(b"long") is None
    assert kept.nbytes == 0


def test_a_voice_that_is_not_kept_speaks_all_the_same(own_engine):
    expected = frames_of(opened(own_engine))
    own_engine._generator._transformer._prefixes = PrefixCache(budget=0)

    assert frames_of(opened(own_engine)) == expected


# Room for keys and values


def test_rows_and_slots_beyond_the_first_buffers_change_nothing(
    new_compiled_engine, precision, monkeypatch
):
    def speeches():
        engine = new_compiled_engine(precision)
        utterances = [opened(engine, TWO, seed) for seed in range(6)]
        heard = [[] for _ in utterances]
        while not all(utterance.idle for utterance in utterances):
            for place, event in enumerate(engine.step(utterances)):
                take(heard, place, event)
        return heard, engine._generator._transformer._memory.capacity

    monkeypatch.setattr("wyoming_moss_nano.engine.compiled._FIRST_SLOTS", 8)
    roomy, capacity = speeches()
    assert capacity == 256
    monkeypatch.setattr("wyoming_moss_nano.engine.compiled._FIRST_SLOTS", 1)
    monkeypatch.setattr("wyoming_moss_nano.engine.compiled._FIRST_CAPACITY", 16)
    narrow, capacity = speeches()

    assert capacity == 128
    assert narrow == roomy


def test_a_piece_of_more_than_512_rows_goes_on_as_the_published_graphs_do(
    new_compiled_engine, tiny_engine
):
    reference = np.tile(tiny_engine.bundle.builtin_voices["alder"], (30, 1))
    engine = new_compiled_engine("fp32")
    (ids,) = engine.pieces(TEXT)

    ours, published = (
        frames_of(each.utter([ids], reference, SpeechOptions(max_frames=30)))
        for each in (engine, tiny_engine)
    )

    assert len(reference) + len(ours) > 512
    assert ours == published
    assert engine._generator._transformer._memory.capacity > 512


def test_a_piece_that_is_longer_than_compiled_graphs_can_be_is_one_clear_error(
    own_engine, tiny_bundle
):
    reference = np.resize(tiny_bundle.builtin_voices["alder"], (MOST_ROWS, 16))
    expected = frames_of(opened(own_engine))
    utterance = own_engine.utter([[280]], reference, SpeechOptions())

    with pytest.raises(SpeechError, match="use a shorter text or --precision exact"):
        utterance.step()
    utterance.close()

    assert frames_of(opened(own_engine)) == expected
    assert own_engine._generator._transformer._memory._lengths == {}


def test_a_freed_slot_is_the_first_to_be_taken_again(tiny_bundle):
    memory = KeyValues(tiny_bundle)
    slots = [memory.take() for _ in range(6)]
    memory.release(2)
    memory.release(4)

    assert slots == [0, 1, 2, 3, 4, 5]
    assert [memory.take(), memory.take(), memory.take()] == [2, 4, 6]
