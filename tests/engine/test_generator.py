"""When a piece ends: where the model stops, or where it has run too long."""

import dataclasses

import numpy as np
import pytest

from wyoming_moss_nano.engine.generator import Ending, FrameLimit, PieceGenerator
from wyoming_moss_nano.engine.local import frame_sampler
from wyoming_moss_nano.errors import SpeechError
from wyoming_moss_nano.model.metadata import OFFICIAL_RULES
from wyoming_moss_nano.model.sessions import Sessions


@pytest.fixture
def generate(tiny_bundle):
    """Generate frames of a text of the tiny bundle with its first voice."""
    sessions = Sessions(tiny_bundle, threads=1)

    def run(bundle=tiny_bundle, tokens=8, max_frames=375):
        generator = PieceGenerator(
            bundle,
            sessions,
            frame_sampler("fixed", bundle, sessions, seed=1),
            bundle.builtin_voices["alder"],
            list(range(280, 280 + tokens)),
            max_frames,
        )
        frames = []
        while (frame := generator.next_frame()) is not None:
            frames.append(frame)
        return generator, frames

    return run


def test_the_model_stops_by_itself(generate, caplog):
    generator, frames = generate()

    assert generator.ending is Ending.STOPPED
    assert len(frames) == generator.frames > 10
    assert not caplog.records


def test_an_ended_piece_stays_ended(generate):
    generator, _ = generate()

    assert generator.next_frame() is None


@pytest.mark.parametrize("limit", [1, 5])
def test_reaching_max_frames_cuts_and_warns(generate, caplog, limit):
    generator, frames = generate(max_frames=limit)

    assert generator.ending is Ending.MAX_FRAMES
    assert len(frames) == limit
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_reaching_the_cap_for_the_text_cuts_and_warns(generate, tiny_bundle, caplog):
    rules = dataclasses.replace(tiny_bundle.rules, cap_base=2, cap_per_token=0.5)

    generator, frames = generate(dataclasses.replace(tiny_bundle, rules=rules), tokens=8)

    assert generator.ending is Ending.CAPPED
    assert len(frames) == 6
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_limits_never_change_the_frames_before_them(generate):
    _, all_frames = generate()
    _, first_frames = generate(max_frames=7)

    np.testing.assert_array_equal(first_frames, all_frames[:7])


@pytest.mark.parametrize(("tokens", "frames"), [(1, 60), (3, 80), (32, 370), (33, 375), (75, 375)])
def test_a_two_word_text_of_the_official_model_ends_after_seconds_not_half_a_minute(tokens, frames):
    assert FrameLimit.of(OFFICIAL_RULES, tokens, 375).frames == frames


def test_values_that_are_no_numbers_are_an_error(tiny_bundle):
    class Broken(Sessions):
        def graph(self, name):
            graph = super().graph(name)
            if name != "prefill":
                return graph

            class Graph:
                def run(self, inputs):
                    outputs = graph.run(inputs)
                    return {**outputs, "global_hidden": outputs["global_hidden"] * np.nan}

            return Graph()

    sessions = Broken(tiny_bundle, threads=1)
    sampler = frame_sampler("fixed", tiny_bundle, sessions, seed=1)
    voice = tiny_bundle.builtin_voices["alder"]
    generator = PieceGenerator(tiny_bundle, sessions, sampler, voice, [280, 281], 375)

    with pytest.raises(SpeechError, match="no numbers"):
        generator.next_frame()
