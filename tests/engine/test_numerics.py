"""The engine over the tiny random bundle against a restatement of the model in plain NumPy."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine import restatement
from tests.engine.restatement import FrameMaker, LanguageModel, SamplingRules, piece_of_speech
from tests.engine.restatement_codec import Codec as RestatedCodec
from wyoming_moss_nano.engine.exact import ExactReading, ExactTransformer
from wyoming_moss_nano.engine.generator import Ending
from wyoming_moss_nano.engine.language import exact_language
from wyoming_moss_nano.engine.local import EachSampled, LocalSteps, Turn
from wyoming_moss_nano.engine.options import SpeechOptions
from wyoming_moss_nano.engine.prompt import PromptLayout
from wyoming_moss_nano.engine.sampling import RandomStream, SeenCodes, most_likely, sampled
from wyoming_moss_nano.engine.utterance import Frame
from wyoming_moss_nano.model.sessions import Sessions

VOICES = ("alder", "birch")
TEXTS = ("Go.", "On it.")

# the autouse fixture of the environment plays no part in any of these
properties = settings(
    deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def sessions(tiny_bundle):
    return Sessions(tiny_bundle, threads=1)


@pytest.fixture(scope="module")
def model(tiny_folder):
    return LanguageModel(tiny_folder)


@pytest.fixture(scope="module")
def codec(tiny_folder):
    return RestatedCodec(tiny_folder)


def assert_close(found, expected):
    """Within 1e-4 of the largest value."""
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def some_codes(frames, seed=5):
    return np.random.default_rng(seed).integers(0, 64, (frames, 16)).astype(np.int32)


# --- the transformers -------------------------------------------------------------------------


def test_a_prompt_is_laid_out_as_restated(tiny_engine, tiny_bundle, model):
    ids = tiny_engine.pieces("The cat is in.")[0]
    for voice in VOICES:
        rows = PromptLayout.of(tiny_bundle).prompt(tiny_bundle.builtin_voices[voice], ids)
        np.testing.assert_array_equal(rows, model.prompt(model.reference(voice), ids))


@pytest.mark.parametrize("voice", VOICES)
def test_states_with_a_cache_are_those_of_the_whole_sequence(tiny_bundle, sessions, model, voice):
    rows = model.prompt(model.reference(voice), [283, 329, 376])
    transformer = ExactTransformer(tiny_bundle, sessions)
    reading = ExactReading(rows.astype(np.int32))

    hidden = transformer.read([(reading, None)])
    assert_close(hidden[0], model.hidden_states(rows)[-1])

    for frame in some_codes(6):
        hidden = transformer.read([(reading, frame)])
        rows = np.concatenate([rows, [[model.slot, *frame]]])
        assert_close(hidden[0], model.hidden_states(rows)[-1])


def test_a_piece_knows_nothing_of_another(tiny_bundle, sessions, model):
    first, second = (model.prompt(model.reference(voice), [283, 329]) for voice in VOICES)
    transformer = ExactTransformer(tiny_bundle, sessions)
    readings = [ExactReading(rows.astype(np.int32)) for rows in (first, second)]

    hidden = transformer.read([(reading, None) for reading in readings])

    assert_close(hidden[0], model.hidden_states(first)[-1])
    assert_close(hidden[1], model.hidden_states(second)[-1])


def test_local_steps_give_the_logits_of_the_whole_frame(tiny_bundle, sessions, model):
    steps = LocalSteps(tiny_bundle, sessions.graph("local_cached_step"))
    hidden = np.random.default_rng(3).normal(size=(1, 64)).astype(np.float32)
    for codes in some_codes(3).tolist():
        text_logits, code_logits = model.local_logits(hidden[0], model.slot, codes[:-1])
        frame = steps.start(hidden)
        assert_close(frame.text_logits(), text_logits)
        assert_close(frame.first_code_logits(model.slot), code_logits[0])
        for codebook, code in enumerate(codes[:-1]):
            found = frame.next_code_logits(codebook, code)
            assert_close(found, code_logits[codebook + 1])


def test_the_local_graph_without_a_cache_agrees(sessions, model):
    hidden = np.random.default_rng(4).normal(size=(1, 64)).astype(np.float32)
    codes = some_codes(1)
    outputs = sessions.graph("local_decoder").run(
        {
            "global_hidden": hidden,
            "text_token_id": np.array([model.slot], dtype=np.int32),
            "audio_prefix_token_ids": codes[:, :-1],
        }
    )
    text_logits, code_logits = model.local_logits(hidden[0], model.slot, codes[0, :-1])
    assert_close(outputs["text_logits"][0], text_logits)
    assert_close(outputs["audio_logits"][0], np.stack(code_logits))


# --- whole pieces -----------------------------------------------------------------------------


def frames_of(generator, piece):
    frames = []
    while (frame := generator.next_frames([piece])[0]) is not None:
        frames.append(frame)
    return frames


def assert_same_frames(found, restated):
    """Every frame equal; returns how many were compared.

    The comparison ends where a choice hung on rounding: from there on both may be right.
    """
    for place, frame in enumerate(restated):
        if not frame.steady:
            return place
        codes = found[place].tolist() if place < len(found) else None
        assert codes == frame.codes, f"frame {place}"
    assert len(found) == len(restated) - 1
    return len(restated)


@pytest.mark.parametrize(
    ("mode", "seeds"),
    # greedy draws nothing
    [("fixed", (1, 1234)), ("full", (1, 1234)), ("greedy", (1,))],
)
def test_pieces_are_equal_frame_for_frame(tiny_engine, tiny_bundle, sessions, model, mode, seeds):
    generator = exact_language(tiny_bundle, sessions).generator(tiny_bundle)
    compared = made = 0
    for voice, text, seed in itertools.product(VOICES, TEXTS, seeds):
        (ids,) = tiny_engine.pieces(text)
        maker = FrameMaker(model, mode, np.random.default_rng(seed))
        restated = piece_of_speech(model, maker, model.reference(voice), ids)
        reference = tiny_bundle.builtin_voices[voice]
        stream = RandomStream(seed)
        piece = generator.open(reference, ids, sample_mode=mode, stream=stream, max_frames=375)

        found = frames_of(generator, piece)

        compared += assert_same_frames(found, restated)
        made += len(restated)
        assert piece.ending is Ending.STOPPED
        assert len(found) > 10
    assert compared > made / 2


@pytest.mark.parametrize("mode", ["fixed", "full"])
def test_the_second_piece_goes_on_with_the_random_numbers_of_the_first(tiny_engine, model, mode):
    pieces = [tiny_engine.pieces(text)[0] for text in TEXTS]
    voice = model.reference("alder").astype(np.int32)
    utterance = tiny_engine.utter(pieces, voice, SpeechOptions(seed=7, sample_mode=mode))
    maker = FrameMaker(model, mode, np.random.default_rng(7))
    for ids in pieces:
        found = []
        while isinstance(event := utterance.step(), Frame):
            found.append(event.codes)
        assert_same_frames(found, piece_of_speech(model, maker, voice, ids))


# --- random numbers ---------------------------------------------------------------------------


class RecordingGraph:
    """Stands in for the sampling graph: keeps the random numbers, stops at the wanted frames."""

    def __init__(self, stops):
        self._stops = iter(stops)
        self.draws = []

    def run(self, inputs):
        assistant, audio = inputs["assistant_random_u"], inputs["audio_random_u"]
        assert assistant.shape == (1,)
        assert audio.shape == (1, 16)
        assert assistant.dtype == audio.dtype == np.float32
        self.draws.append([*assistant, *audio[0]])
        codes = np.zeros((1, 16), dtype=np.int32)
        return {
            "should_continue": np.array([[not next(self._stops)]], dtype=np.int32),
            "frame_token_ids": codes,
        }


@given(seed=st.integers(0, 2**32), stops=st.lists(st.booleans(), min_size=1, max_size=8))
@settings(properties, max_examples=30)
def test_every_frame_draws_one_number_to_go_on_and_one_per_codebook(tiny_bundle, seed, stops):
    graph = RecordingGraph(stops)
    sampler = EachSampled(graph)
    turn = Turn(SeenCodes(tiny_bundle.config), RandomStream(seed))
    hidden = np.zeros((1, 64), dtype=np.float32)

    frames = [sampler.frames(hidden, [turn])[0] for _ in stops]

    assert [frame is None for frame in frames] == stops
    generator = np.random.default_rng(seed)
    one_by_one = [[generator.random() for _ in range(17)] for _ in stops]
    np.testing.assert_array_equal(graph.draws, np.array(one_by_one, dtype=np.float32))


class AlwaysTheLargest:
    def random(self, count):
        return np.full(count, np.nextafter(1.0, 0.0))


def test_random_numbers_for_the_graph_stay_below_one():
    stream = RandomStream(0)
    stream._generator = AlwaysTheLargest()
    largest = np.nextafter(np.float32(1), np.float32(0))
    np.testing.assert_array_equal(stream.draw_clamped(17), np.full(17, largest))


# --- the samplers -----------------------------------------------------------------------------

# Quarters make ties, float32 numbers everything else.
scores = st.integers(-12, 12).map(lambda quarters: quarters / 4) | st.floats(-30, 30, width=32)
tables = st.lists(st.tuples(scores, st.booleans()), min_size=2, max_size=64)
rules = st.builds(
    SamplingRules,
    penalty=st.sampled_from([1.0, 1.2]),
    temperature=st.sampled_from([0.8, 1.0]),
    top_k=st.sampled_from([0, 1, 25, 1000]),
    top_p=st.sampled_from([0.0, 0.5, 0.95, 1.0]),
)


def logits_and_seen(table):
    logits, seen = zip(*table, strict=True)
    return np.array(logits, dtype=np.float32), np.array(seen)


def drawn(logits, seen, how, draw):
    return sampled(
        logits,
        seen,
        penalty=how.penalty,
        temperature=how.temperature,
        top_k=how.top_k,
        top_p=how.top_p,
        draw=draw,
    )


@given(tables, st.sampled_from([1.0, 1.2]))
@settings(properties, max_examples=150)
def test_greedy_takes_the_first_of_the_most_likely(table, penalty):
    logits, seen = logits_and_seen(table)
    expected = restatement.most_likely(logits, seen, penalty)
    assert most_likely(logits, seen, penalty) == expected


@given(tables, rules, st.sampled_from([0.0, 0.25, 0.5]) | st.floats(0, 0.99999999))
@settings(properties, max_examples=400)
def test_the_host_draws_as_restated(table, how, draw):
    logits, seen = logits_and_seen(table)
    before = logits.copy()
    expected = restatement.drawn_by_host(logits, seen, how, draw)
    assert drawn(logits, seen, how, draw) == expected
    np.testing.assert_array_equal(logits, before)


@pytest.mark.parametrize("draw", [0.1, 0.5, 0.9, 0.999])
def test_of_many_equal_scores_the_lower_codes_fill_the_nucleus(draw):
    logits, seen = np.tile(np.float32([1, 0]), 32), np.zeros(64, dtype=np.bool_)
    how = SamplingRules(penalty=1.2, temperature=0.8, top_k=0, top_p=0.3)
    expected = restatement.drawn_by_host(logits, seen, how, draw)
    assert drawn(logits, seen, how, draw) == expected
    assert set(restatement.kept_by_host(logits, seen, how)) < set(range(0, 48, 2))


@given(tables, rules)
@settings(properties, max_examples=150)
def test_a_draw_just_below_one_takes_the_last_code_or_the_most_likely(table, how):
    # by rounding: the chances may sum to a little less than the draw
    logits, seen = logits_and_seen(table)
    chances = restatement.kept_by_host(logits, seen, how)
    found = drawn(logits, seen, how, np.nextafter(1.0, 0.0))
    later = sum(chance for code, chance in chances.items() if code > found)
    assert later == pytest.approx(0) or found == max(chances, key=chances.__getitem__)
    assert found in chances


@given(tables, st.floats(0.001, 0.999))
@settings(properties, max_examples=50)
def test_top_k_of_one_is_greedy(table, draw):
    logits, seen = logits_and_seen(table)
    # apart by more than rounding: ties stay in the draw
    logits = logits.round(2) + np.arange(len(logits), dtype=np.float32) * np.float32(1e-4)
    how = SamplingRules(penalty=1.2, temperature=1.0, top_k=1, top_p=0.95)
    unseen = np.zeros_like(seen)
    assert drawn(logits, unseen, how, draw) == most_likely(logits, unseen, 1.2)


class GivenDraws:
    def __init__(self, draws):
        self._draws = draws

    def random(self, count):
        assert count == len(self._draws)
        return self._draws


@given(
    state=st.integers(0, 2**32),
    share=st.sampled_from([0.0, 0.1, 0.9, 1.0]),
    edge=st.sampled_from([None, 0.0, 0.5, 0.9999]),
)
@settings(properties, max_examples=40)
def test_the_graph_draws_as_restated(sessions, model, state, share, edge):
    # Beyond 0.9999 the float32 sums of the graph may end below the draw.
    random = np.random.default_rng(state)
    hidden = random.normal(size=(1, 64)).astype(np.float32)
    seen = random.random((16, 64)) < share
    draws = random.random(17) * 0.9999 if edge is None else np.full(17, edge)
    outputs = sessions.graph("local_fixed_sampled_frame").run(
        {
            "global_hidden": hidden,
            "repetition_seen_mask": seen[np.newaxis].astype(np.int32),
            "assistant_random_u": draws[:1].astype(np.float32),
            "audio_random_u": draws[np.newaxis, 1:].astype(np.float32),
        }
    )

    expected = FrameMaker(model, "fixed", GivenDraws(draws)).frame(hidden[0], seen)

    if expected.steady:
        going_on = bool(outputs["should_continue"].item())
        found = outputs["frame_token_ids"][0].tolist() if going_on else None
        assert found == expected.codes


# --- the codec --------------------------------------------------------------------------------


@pytest.mark.parametrize("frames", [1, 2, 14])
def test_sound_is_as_restated_within_and_beyond_the_windows(tiny_engine, codec, frames):
    # the tiny codec's windows reach back two to five frames
    codes = some_codes(frames)
    assert_close(tiny_engine.codec.decode(codes), codec.decode(codes))


groupings = st.lists(st.integers(1, 9), min_size=2, max_size=6)


def assert_streams_like_decode(engine, codes, groups):
    whole = engine.codec.decode(codes)
    decoder = engine.codec.stream()
    starts = np.cumsum(groups)[:-1]
    parts = [decoder.decode(group) for group in np.split(codes, starts)]
    assert [part.shape[1] for part in parts] == [3840 * group for group in groups]
    assert_close(np.concatenate(parts, axis=1), whole)


@given(groupings)
@settings(properties, max_examples=15)
def test_any_grouping_of_frames_gives_the_same_sound(tiny_engine, groups):
    assert_streams_like_decode(tiny_engine, some_codes(sum(groups)), groups)


@given(groupings)
@settings(properties, max_examples=6)
def test_so_it_does_with_the_embedded_bundle(embedded_engine, embedded_bundle, groups):
    sizes = np.array(embedded_bundle.config.codebook_sizes)
    shape = (sum(groups), len(sizes))
    codes = np.random.default_rng(sum(groups)).integers(0, sizes, shape).astype(np.int32)
    assert_streams_like_decode(embedded_engine, codes, groups)


def test_a_streamed_sound_is_as_restated_frame_by_frame(tiny_engine, codec):
    codes = some_codes(9)
    decoder = tiny_engine.codec.stream()
    parts = [decoder.decode(codes[frame : frame + 1]) for frame in range(9)]
    assert_close(np.concatenate(parts, axis=1), codec.decode(codes))


def gliding_tones(samples):
    seconds = np.arange(samples) / 48000
    left = 0.3 * np.sin(2 * np.pi * (200 + 300 * seconds) * seconds)
    right = 0.2 * np.sin(2 * np.pi * 330 * seconds)
    return np.stack([left, right]).astype(np.float32)


@pytest.mark.parametrize("samples", [3840, 12 * 3840, 12 * 3840 + 500])
def test_codes_of_a_recording_are_as_restated(tiny_engine, codec, samples):
    sound = gliding_tones(samples)
    found, expected = tiny_engine.codec.encode(sound), codec.encode(sound)
    assert found.shape == expected.shape == (samples // 3840, 16)
    # Two entries may be equally near but for rounding, and then the books after differ as well:
    # one frame in twelve may.
    assert (found != expected).any(axis=1).sum() <= len(found) / 12
    assert len(np.unique(found, axis=0)) == len(found)
