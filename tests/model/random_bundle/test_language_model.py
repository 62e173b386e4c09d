import numpy as np
import pytest

TEXT = "The kettle is on."


@pytest.fixture(scope="module")
def rows(tiny):
    return tiny.rows(tiny.tokenizer.encode(TEXT), tiny.voice(0))


@pytest.fixture(scope="module")
def hidden(tiny, rows):
    """The states of all rows of a prompt, each a beginning of a frame."""
    return tiny.prefill(rows)["global_hidden"][0]


@pytest.mark.parametrize("cut", [1, 20, -1])
def test_prefill_of_all_rows_is_prefill_of_some_and_steps_for_the_rest(tiny, rows, cut):
    whole = tiny.prefill(rows)
    state = tiny.prefill(rows[:, :cut])
    for row in range(rows.shape[1] + cut if cut < 0 else cut, rows.shape[1]):
        state = tiny.step(rows[:, row : row + 1], state, row)
        np.testing.assert_allclose(
            state["global_hidden"][:, 0], whole["global_hidden"][:, row], atol=1e-4
        )
    for name, value in whole.items():
        if name != "global_hidden":
            np.testing.assert_allclose(state[name], value, atol=1e-4)


def test_padding_on_the_right_changes_nothing_before_it(tiny, rows):
    length = rows.shape[1]
    padded = np.concatenate([rows, rows[:, :5]], axis=1)
    mask = np.array([[1] * length + [0] * 5], np.int32)
    state = tiny.run("prefill", {"input_ids": padded, "attention_mask": mask})
    expected = tiny.prefill(rows)["global_hidden"]
    np.testing.assert_allclose(state["global_hidden"][:, :length], expected, atol=1e-5)
    assert not state["global_hidden"][:, length:].any()


def test_padding_on_the_left_does_not_count_as_positions(tiny, rows):
    padded = np.concatenate([rows[:, :5], rows], axis=1)
    mask = np.array([[0] * 5 + [1] * rows.shape[1]], np.int32)
    state = tiny.run("prefill", {"input_ids": padded, "attention_mask": mask})
    expected = tiny.prefill(rows)["global_hidden"]
    np.testing.assert_allclose(state["global_hidden"][:, 5:], expected, atol=1e-5)


def test_a_batch_is_its_rows(tiny, rows):
    other = rows.copy()
    other[0, 8, 1:] = 7
    both = tiny.prefill(np.concatenate([rows, other]))["global_hidden"]
    np.testing.assert_allclose(both[0], tiny.prefill(rows)["global_hidden"][0], atol=1e-5)
    np.testing.assert_allclose(both[1], tiny.prefill(other)["global_hidden"][0], atol=1e-5)


def test_local_decoder_is_seventeen_cached_steps(tiny, hidden):
    codes = np.random.default_rng(5).integers(0, 64, 16)
    first = hidden[-1:]
    whole = tiny.run(
        "local_decoder",
        {
            "global_hidden": first,
            "text_token_id": np.array([9], np.int32),
            "audio_prefix_token_ids": codes[None, :15].astype(np.int32),
        },
    )
    past = np.zeros((1, 0, 4, 16), np.float32)
    cache = {"local_past_key_0": past, "local_past_value_0": past}
    result, cache = tiny.local_step(first, cache, 0, kind=0)
    np.testing.assert_allclose(result["text_logits"], whole["text_logits"], atol=1e-4)
    result, cache = tiny.local_step(first, cache, 1, kind=1, text=9)
    np.testing.assert_allclose(result["audio_logits"][0, 0], whole["audio_logits"][0, 0], atol=1e-4)
    for book in range(1, 16):
        code = int(codes[book - 1])
        result, cache = tiny.local_step(first, cache, book + 1, kind=2, code=code, book=book - 1)
        np.testing.assert_allclose(
            result["audio_logits"][0, book], whole["audio_logits"][0, book], atol=1e-4
        )


def test_local_decoder_takes_an_unused_cell_as_nothing(tiny, hidden):
    def logits(prefix):
        feeds = {
            "global_hidden": hidden[-1:],
            "text_token_id": np.array([9], np.int32),
            "audio_prefix_token_ids": np.array([prefix], np.int32),
        }
        return tiny.run("local_decoder", feeds)["audio_logits"][0]

    some, none = logits([3] * 4 + [64] * 11), logits([64] * 15)
    np.testing.assert_allclose(some[0], none[0], atol=1e-5)
    assert np.abs(some[1:] - none[1:]).max(axis=1).min() > 1e-3


def test_the_fixed_graph_samples_as_the_host_does(tiny, hidden):
    generator = np.random.default_rng(11)
    size = len(hidden)
    seen = (generator.random((size, 16, 64)) < 0.2).astype(np.int32)
    text_draws = generator.random(size).astype(np.float32)
    audio_draws = generator.random((size, 16)).astype(np.float32)
    audio_draws[0], audio_draws[1], audio_draws[2] = 0.0, 1.0, -1.0
    result = tiny.fixed(hidden, seen, text_draws, audio_draws)
    for row in range(0, size, 3):
        draws = [text_draws[row], *np.maximum(audio_draws[row], 0)]
        frame = tiny.full_frame(hidden[row : row + 1], seen[row : row + 1], Draws(draws))
        assert result["should_continue"][row, 0] == (frame is not None)
        if frame is not None:
            assert result["frame_token_ids"][row].tolist() == frame


def test_logits_leave_a_choice_and_are_not_close_calls(tiny, hidden):
    past = np.zeros((1, 0, 4, 16), np.float32)
    for first in hidden[-8:]:
        cache = {"local_past_key_0": past, "local_past_value_0": past}
        _, cache = tiny.local_step(first[None], cache, 0, kind=0)
        result, cache = tiny.local_step(first[None], cache, 1, kind=1, text=9)
        logits = result["audio_logits"][0, 0]
        assert 1.5 < logits.std() < 4.5
        best = np.sort(logits)[-2:]
        assert best[1] - best[0] > 1e-4


class Draws:
    """A generator that gives back what it was given."""

    def __init__(self, values):
        self.values = list(values)

    def random(self):
        return self.values.pop(0)
