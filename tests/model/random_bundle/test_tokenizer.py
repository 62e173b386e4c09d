import pytest
import sentencepiece

from wyoming_moss_nano.model.random_bundle import OFFICIAL
from wyoming_moss_nano.model.random_bundle.special import (
    FIRST_BYTE,
    FIRST_PIECE,
    FIRST_WORD_PIECE,
    USER_DEFINED_PIECES,
)
from wyoming_moss_nano.model.random_bundle.tokenizer import tokenizer_model


@pytest.fixture(scope="module")
def official():
    return sentencepiece.SentencePieceProcessor(model_proto=tokenizer_model(OFFICIAL.vocabulary))


def test_special_ids_are_the_published_ones(tiny):
    tokenizer = tiny.tokenizer
    assert tokenizer.get_piece_size() == tiny.config["vocab_size"]
    assert [tokenizer.id_to_piece(i) for i in range(4)] == ["<unk>", "<s>", "</s>", "<pad>"]
    assert tokenizer.is_unknown(0)
    assert all(tokenizer.is_control(i) for i in (1, 2, 3))
    for token, piece in enumerate(USER_DEFINED_PIECES, 4):
        assert tokenizer.encode(piece)[-1] == token
    assert tokenizer.id_to_piece(FIRST_BYTE) == "<0x00>"
    assert tokenizer.id_to_piece(FIRST_PIECE - 1) == "<0xFF>"
    assert tokenizer.is_byte(FIRST_PIECE - 1)


def test_text_survives_and_spaces_do_not_count(tiny):
    text = "Grüße, 7 kettles & 日本!"
    assert tiny.tokenizer.decode(tiny.tokenizer.encode(text)) == text
    assert tiny.tokenizer.encode("  a \n b ") == tiny.tokenizer.encode("a b")
    assert tiny.tokenizer.encode("") == tiny.tokenizer.encode("\n") == []


def test_unknown_symbols_become_bytes(tiny):
    ids = tiny.tokenizer.encode("語")[1:]
    assert [tiny.tokenizer.id_to_piece(token) for token in ids] == ["<0xE8>", "<0xAA>", "<0x9E>"]


def test_user_text_never_becomes_a_piece_of_the_template(tiny):
    template = range(FIRST_PIECE, FIRST_WORD_PIECE)
    for token in template:
        piece = tiny.tokenizer.id_to_piece(token)
        assert not set(tiny.tokenizer.encode(piece)) & set(template)
    templates = tiny.manifest["prompt_templates"].values()
    used = {token for ids in templates for token in ids}
    assert used <= set(template) | {4, 5, 13, 14}


def test_a_large_vocabulary_needs_fewer_pieces(tiny, official):
    text = "Remember to water the plants on the balcony tomorrow."
    assert official.get_piece_size() == OFFICIAL.vocabulary
    assert official.decode(official.encode(text)) == text
    assert len(official.encode(text)) < len(tiny.tokenizer.encode(text))
