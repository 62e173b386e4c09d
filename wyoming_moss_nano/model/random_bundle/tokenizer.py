"""A SentencePiece model written piece by piece, without a corpus."""

import itertools
import string
from collections.abc import Iterator
from typing import Any

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from .special import BYTES, CONTROL_PIECES, FIRST_WORD_PIECE, TEMPLATE_PIECES, USER_DEFINED_PIECES

# Made at import time, so that nothing of it can be typed.
_proto: Any = sentencepiece_model_pb2

SPACE = "▁"
_LETTERS = SPACE + string.ascii_letters + string.digits + ".,!?;:'\"-()äöüÄÖÜßéèêàáçñóíúł"
# Pairs that occur often enough to make a small vocabulary speak of a few characters a piece.
_PAIRS = (
    "▁t he ▁a in er on re ▁s en at es ▁w or ▁h nd ▁b it ou is an ▁f al ▁c ▁p ing ▁the ed ▁m "
    "▁d ar ▁l st ic ▁in ▁o ti ll le ▁of ch ge ie de ▁and ▁is un ▁un ▁der ei ▁to"
).split()


def tokenizer_model(vocabulary: int) -> bytes:
    """A byte-fallback BPE model with the published special ids.

    Args:
        vocabulary: Number of pieces, at least 400. Beyond letters and the most frequent pairs
            it is filled up with pairs and triples of letters.

    Returns:
        The serialised model. Its normaliser is the published one (nmt_nfkc).

    Raises:
        ValueError: If the vocabulary is too small for the letters.
    """
    words = list(itertools.islice(_words(), vocabulary - FIRST_WORD_PIECE))
    if len(words) < len(_LETTERS):
        raise ValueError(f"a vocabulary of {vocabulary} pieces has no room for the letters")
    model = _proto.ModelProto()
    for piece, kind in _special_pieces():
        model.pieces.add(piece=piece, score=0.0, type=kind)
    for rank, piece in enumerate((*TEMPLATE_PIECES, *words)):
        model.pieces.add(piece=piece, score=-float(rank), type=_piece_type("NORMAL"))
    _describe(model, vocabulary)
    return bytes(model.SerializeToString(deterministic=True))


def text_processor(model: bytes) -> "sentencepiece.SentencePieceProcessor":
    """A processor for a serialised model."""
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def _piece_type(name: str) -> int:
    return int(_proto.ModelProto.SentencePiece.Type.Value(name))


def _special_pieces() -> Iterator[tuple[str, int]]:
    yield CONTROL_PIECES[0], _piece_type("UNKNOWN")
    for piece in CONTROL_PIECES[1:]:
        yield piece, _piece_type("CONTROL")
    for piece in USER_DEFINED_PIECES:
        yield piece, _piece_type("USER_DEFINED")
    for byte in range(BYTES):
        yield f"<0x{byte:02X}>", _piece_type("BYTE")


def _words() -> Iterator[str]:
    yield from _LETTERS
    yield from _PAIRS
    seen = {*_LETTERS, *_PAIRS}
    starts = SPACE + string.ascii_lowercase
    for length in (2, 3):
        rest = itertools.repeat(string.ascii_lowercase, length - 1)
        for letters in itertools.product(starts, *rest):
            piece = "".join(letters)
            if piece not in seen:
                yield piece


def _describe(model: Any, vocabulary: int) -> None:
    trainer = model.trainer_spec
    trainer.model_type = _proto.TrainerSpec.ModelType.Value("BPE")
    trainer.vocab_size = vocabulary
    trainer.byte_fallback = True
    trainer.user_defined_symbols.extend(USER_DEFINED_PIECES)
    trainer.unk_id, trainer.bos_id, trainer.eos_id, trainer.pad_id = range(len(CONTROL_PIECES))
    trainer.unk_piece, trainer.bos_piece, trainer.eos_piece, trainer.pad_piece = CONTROL_PIECES
    # The compiled table of normalisation rules comes with the library.
    rules = _proto.ModelProto()
    normalizer = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc")
    rules.ParseFromString(normalizer.serialized_model_proto())
    model.normalizer_spec.CopyFrom(rules.normalizer_spec)
    model.normalizer_spec.add_dummy_prefix = True
    model.normalizer_spec.remove_extra_whitespaces = True
    model.normalizer_spec.escape_whitespaces = True
