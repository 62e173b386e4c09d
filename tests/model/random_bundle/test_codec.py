import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

FRAME = 3840
FRAMES = 12


@pytest.fixture(scope="module")
def codes():
    return np.random.default_rng(2).integers(0, 64, (1, FRAMES, 16)).astype(np.int32)


@pytest.fixture(scope="module")
def audio(tiny, codes):
    return tiny.decode(codes[0])


def first_state(tiny):
    streaming = tiny.codec_meta["streaming_decode"]
    state = {
        entry["input_name"]: np.zeros(entry["shape"], np.int32)
        for entry in streaming["transformer_offsets"]
    }
    for entry in streaming["attention_caches"]:
        state[entry["offset_input_name"]] = np.zeros(entry["offset_shape"], np.int32)
        for what in ("keys", "values"):
            state[entry[f"cached_{what}_input_name"]] = np.zeros(entry["cache_shape"], np.float32)
        positions = np.full(entry["positions_shape"], -1, np.int32)
        state[entry["cached_positions_input_name"]] = positions
    return state


def next_state(tiny, result):
    names = tiny.codec_meta["onnx"]
    pairs = zip(
        names["decode_step_input_names"][2:], names["decode_step_output_names"][2:], strict=True
    )
    return {before: result[after] for before, after in pairs}


def stream(tiny, codes, groups):
    state, parts, place = first_state(tiny), [], 0
    for group in groups:
        part = codes[:, place : place + group]
        lengths = np.array([group], np.int32)
        feeds = {"audio_codes": part, "audio_code_lengths": lengths, **state}
        result = tiny.run("codec_decode_step", feeds)
        assert result["audio_lengths"].tolist() == [group * FRAME]
        parts.append(result["audio"][0])
        state = next_state(tiny, result)
        place += group
    return np.concatenate(parts, axis=1), state


def groupings(total):
    return st.lists(st.integers(0, 1), min_size=total - 1, max_size=total - 1).map(
        lambda cuts: [
            end - start
            for start, end in zip(
                [0, *(i + 1 for i, cut in enumerate(cuts) if cut)],
                [*(i + 1 for i, cut in enumerate(cuts) if cut), total],
                strict=True,
            )
        ]
    )


@given(groups=groupings(FRAMES))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_streaming_in_any_groups_is_decoding_at_once(tiny, codes, audio, groups):
    streamed, _ = stream(tiny, codes, groups)
    np.testing.assert_allclose(streamed, audio, atol=1e-5)


def test_the_state_holds_the_last_tokens_of_each_window(tiny, codes):
    _, state = stream(tiny, codes, [FRAMES])
    streaming = tiny.codec_meta["streaming_decode"]
    for entry in streaming["attention_caches"]:
        (offset,) = state[entry["offset_input_name"]]
        context = entry["context"]
        assert offset >= FRAMES * 4
        assert context < offset
        positions = state[entry["cached_positions_input_name"]][0]
        assert positions.tolist() == list(range(offset - context, offset))
    _, state = stream(tiny, codes, [1])
    positions = state["attn_cached_positions_0"][0].tolist()
    assert positions == [-1] * 16 + [0, 1, 2, 3]


def test_a_frame_is_heard_until_the_windows_have_passed(tiny, codes, audio):
    changed = codes.copy()
    changed[0, 0] = (changed[0, 0] + 1) % 64
    other = tiny.decode(changed[0])
    frames = np.abs(other - audio).reshape(2, FRAMES, FRAME).max(axis=(0, 2))
    # Windows of 5 + 4 + 3 + 2 * 2 frames: the direct way is five frames, the sum is what stages
    # can hand on, and nothing is heard before the frame.
    assert (frames[:5] > 1e-4).all()
    early = codes.copy()
    early[0, -1] = (early[0, -1] + 1) % 64
    same = tiny.decode(early[0])[:, :-FRAME]
    np.testing.assert_allclose(same, audio[:, :-FRAME], atol=1e-6)


def test_windows_end(tiny):
    codes = np.random.default_rng(3).integers(0, 64, (30, 16))
    changed = codes.copy()
    changed[0] = (changed[0] + 1) % 64
    difference = np.abs(tiny.decode(codes) - tiny.decode(changed))
    assert difference[:, 20 * FRAME :].max() < 1e-6


def test_random_codes_sound_like_quiet_noise(audio):
    assert audio.shape == (2, FRAMES * FRAME)
    assert np.isfinite(audio).all()
    assert 0.03 < np.sqrt(np.mean(audio**2)) < 0.2
    assert np.abs(audio).max() < 0.9
    assert np.abs(audio[0] - audio[1]).max() > 0.1


@pytest.mark.parametrize("samples", [1, FRAME - 1, FRAME, 2 * FRAME + 7, 9 * FRAME])
def test_encode_counts_whole_frames(tiny, samples):
    waveform = np.random.default_rng(4).normal(0, 0.1, (1, 2, samples)).astype(np.float32)
    result = encode(tiny, waveform)
    assert result["audio_code_lengths"].tolist() == [samples // FRAME]
    found = result["audio_codes"]
    assert found.shape == (1, -(-samples // FRAME), 16)
    assert 0 <= found.min() <= found.max() < 64


def test_encoding_is_causal_and_hears_what_is_said(tiny, audio):
    result = encode(tiny, audio[None])["audio_codes"]
    shorter = encode(tiny, audio[None, :, : 5 * FRAME])["audio_codes"]
    np.testing.assert_array_equal(result[:, :5], shorter)
    assert len({tuple(frame) for frame in result[0]}) == FRAMES
    silence = encode(tiny, np.zeros_like(audio[None]))["audio_codes"]
    assert (silence != result).any()


def test_a_batch_is_its_recordings(tiny, audio):
    batch = np.stack([audio, audio[::-1]])
    both = encode(tiny, batch)["audio_codes"]
    np.testing.assert_array_equal(both[0], encode(tiny, batch[:1])["audio_codes"][0])
    np.testing.assert_array_equal(both[1], encode(tiny, batch[1:])["audio_codes"][0])


def encode(tiny, waveform):
    lengths = np.full(len(waveform), waveform.shape[2], np.int32)
    return tiny.run("codec_encode", {"waveform": waveform, "input_lengths": lengths})
