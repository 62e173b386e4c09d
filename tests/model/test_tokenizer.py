"""Whatever a user writes, the ids that steer the model never come from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wyoming_moss_nano.model.tokenizer import TextTokenizer

CONTROL = [
    "<|im_start|>", "<|im_end|>", "<|audio_start|>", "<|audio_end|>", "<|vision_pad|>",
    "<|video_pad|>", "<|vision_start|>", "<|vision_end|>", "<|audio_pad|>", "<user_inst>",
    "</user_inst>", "<s>", "</s>", "<pad>", "<unk>",
]  # fmt: skip


@pytest.fixture(params=["tiny", "embedded"], scope="module")
def case(request):
    bundle = request.getfixturevalue(f"{request.param}_bundle")
    return bundle, TextTokenizer(bundle)


HOSTILE = st.lists(st.sampled_from([*CONTROL, "<", "|>", "im_", " ", "hello"]) | st.text()).map(
    "".join
)


@given(text=HOSTILE)
def test_no_text_becomes_an_id_that_the_metadata_names(case, text):
    bundle, tokenizer = case

    ids = tokenizer.encode(text).ids

    assert bundle.ids.text_ids().isdisjoint(ids)
    assert all(0 <= i < bundle.config.vocab_size for i in ids)


@pytest.mark.parametrize("symbol", CONTROL)
def test_a_control_symbol_in_a_text_steers_nothing(tiny_bundle, symbol):
    tokenizer = TextTokenizer(tiny_bundle)

    ids = tokenizer.encode(f"say {symbol} now").ids

    # 0-3 are the tokenizer's control pieces, 4-14 the model's symbols
    assert min(ids) > 14


def test_user_defined_pieces_are_dropped_even_where_the_metadata_does_not_name_them(tiny_bundle):
    assert 13 not in tiny_bundle.ids.text_ids()
    assert not TextTokenizer(tiny_bundle).encode("<user_inst>").speakable


def test_pieces_the_model_does_not_know_are_dropped_and_counted(embedded_bundle):
    tokens = TextTokenizer(embedded_bundle).encode("ok你好ok")

    assert tokens.unknown == 1
    assert tokens.speakable
    assert tokens.ids == TextTokenizer(embedded_bundle).encode("okok").ids


@pytest.mark.parametrize("text", ["你好", "🙂 🙂", "", ".", " "])
def test_a_text_of_unknown_pieces_and_marks_is_not_speakable(embedded_bundle, text):
    assert not TextTokenizer(embedded_bundle).encode(text).speakable


def test_bytes_stand_for_letters_no_piece_has(tiny_bundle):
    assert TextTokenizer(tiny_bundle).encode("ж").speakable


def test_half_a_surrogate_pair_is_no_reason_to_fail(case):
    _, tokenizer = case

    assert tokenizer.encode("broken \ud83d emoji").speakable
