"""When a piece ends: where the model stops, or where it has run too long."""

import dataclasses

import numpy as np
import pytest

from wyoming_moss_nano.engine.generator import Ending, FrameLimit
from wyoming_moss_nano.engine.language import exact_language
from wyoming_moss_nano.engine.sampling import RandomStream
from wyoming_moss_nano.errors import SpeechError
from wyoming_moss_nano.model.metadata import OFFICIAL_RULES
from wyoming_moss_nano.model.sessions import Sessions


def open_piece(generator, bundle, tokens=8, max_frames=375):
    return generator.open(
        bundle.builtin_voices["alder"],
        list(range(280, 280 + tokens)),
        sample_mode="fixed",
        stream=RandomStream(1),
        max_frames=max_frames,
    )


@pytest.fixture
def generate(tiny_bundle):
    """Generate frames of a text of the tiny bundle with its first voice."""
    sessions = Sessions(tiny_bundle, threads=1)

    def run(bundle=tiny_bundle, tokens=8, max_frames=375):
        generator = exact_language(bundle, sessions).generator(bundle)
        piece = open_piece(generator, bundle, tokens, max_frames)
        frames = []
        while (frame := generator.next_frames([piece])[0]) is not None:
            frames.append(frame)
        return piece, frames

    return run


def test_the_model_stops_by_itself(generate, caplog):
    piece, frames = generate()

    assert piece.ending is Ending.STOPPED
    assert len(frames) == piece.frames > 10
    assert not caplog.records


def test_an_ended_piece_stays_ended(tiny_bundle):
    generator = exact_language(tiny_bundle, Sessions(tiny_bundle, threads=1)).generator(tiny_bundle)
    piece = open_piece(generator, tiny_bundle, max_frames=2)

    made = [generator.next_frames([piece])[0] is not None for _ in range(4)]

    assert made == [True, True, False, False]
    assert piece.ending is Ending.MAX_FRAMES


@pytest.mark.parametrize("limit", [1, 5])
def test_reaching_max_frames_cuts_and_warns(generate, caplog, limit):
    piece, frames = generate(max_frames=limit)

    assert piece.ending is Ending.MAX_FRAMES
    assert len(frames) == limit
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_reaching_the_cap_for_the_text_cuts_and_warns(generate, tiny_bundle, caplog):
    rules = dataclasses.replace(tiny_bundle.rules, cap_base=2, cap_per_token=0.5)

    piece, frames = generate(dataclasses.replace(tiny_bundle, rules=rules), tokens=8)

    assert piece.ending is Ending.CAPPED
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
    generator = exact_language(tiny_bundle, sessions).generator(tiny_bundle)
    piece = open_piece(generator, tiny_bundle)

    with pytest.raises(SpeechError, match="no numbers"):
        generator.next_frames([piece])
