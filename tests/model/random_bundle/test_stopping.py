import numpy as np
import pytest

from wyoming_moss_nano.model.random_bundle import build_random_bundle

TEXT = "It is on, and off."
OTHER = "We do not know it."


@pytest.fixture(scope="module")
def text(tiny):
    return tiny.tokenizer.encode(TEXT)


def tokens(count):
    return [300 + i * 7 % 100 for i in range(count)]


@pytest.mark.parametrize("voice", [0, 1, 2])
@pytest.mark.parametrize("mode", ["greedy", "fixed", "full"])
@pytest.mark.parametrize("count", [1, 5, 11])
def test_every_mode_stops_after_about_four_frames_per_token(tiny, voice, mode, count):
    for seed in range(1 if mode == "greedy" else 2):
        frames = tiny.frames(tokens(count), tiny.voice(voice), mode, seed)
        assert 3.5 * count <= len(frames) <= 4.5 * count


@pytest.mark.parametrize("count", [40, 75])
def test_long_texts_stop_as_well(tiny, count):
    frames = tiny.frames(tokens(count), tiny.voice(0), "fixed", seed=count)
    assert 3.5 * count <= len(frames) <= 4.5 * count


def test_bytes_count_as_text(tiny):
    ids = tiny.tokenizer.encode("日本")
    frames = tiny.frames(ids, tiny.voice(0), "fixed")
    assert len(ids) == 7
    assert 3.5 * len(ids) <= len(frames) <= 4.5 * len(ids)


@pytest.mark.parametrize("seed", [1, 2])
def test_bundles_of_other_seeds_stop_too(tmp_path, seed, tiny):
    bundle = type(tiny)(build_random_bundle(tmp_path, seed=seed))
    frames = bundle.frames(tokens(9), bundle.voice(1), "fixed")
    assert 3.5 * 9 <= len(frames) <= 4.5 * 9
    sound = bundle.decode(frames)
    assert 0.03 < sound.std() < 0.2
    assert np.abs(sound).max() < 0.95


def test_the_fixed_graph_and_the_host_sampler_speak_alike(tiny, text):
    assert tiny.frames(text, tiny.voice(0), "fixed", 3) == tiny.frames(
        text, tiny.voice(0), "full", 3
    )


@pytest.mark.parametrize("mode", ["greedy", "fixed", "full"])
def test_what_is_said_depends_on_text_and_voice(tiny, text, mode):
    said = tiny.frames(text, tiny.voice(0), mode)
    assert said == tiny.frames(text, tiny.voice(0), mode)
    for different in (
        tiny.frames(tiny.tokenizer.encode(OTHER), tiny.voice(0), mode),
        tiny.frames(text, tiny.voice(1), mode),
    ):
        common = min(len(said), len(different))
        heard = tiny.decode(said[:common]) - tiny.decode(different[:common])
        assert np.sqrt(np.mean(heard**2)) > 0.02


@pytest.mark.parametrize("mode", ["fixed", "full"])
def test_what_is_said_depends_on_the_seed(tiny, text, mode):
    one, other = (tiny.frames(text, tiny.voice(0), mode, seed) for seed in (1, 2))
    assert one[:5] != other[:5]


def test_greedy_speech_moves(tiny, text):
    frames = tiny.frames(text, tiny.voice(0), "greedy")
    assert len({tuple(frame) for frame in frames}) > len(frames) // 2


def test_speech_is_neither_silent_nor_clipped(tiny, text):
    sound = tiny.decode(tiny.frames(text, tiny.voice(2), "fixed"))
    assert np.isfinite(sound).all()
    assert 0.03 < np.sqrt(np.mean(sound**2)) < 0.2
    assert np.abs(sound).max() < 0.9
