"""User text as token ids: SentencePiece, without the ids that steer the model."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import sentencepiece

from ..errors import BundleError
from .bundle import Bundle
from .protobuf import Schema, parse_file

# The part of sentencepiece_model.proto that tells what kind of piece each id is.
_SENTENCEPIECE: Final[Schema] = {
    "Model": {"pieces": (1, "*Piece")},
    "Piece": {"piece": (1, "string"), "type": (3, "int64")},
}
_CONTROL, _USER_DEFINED, _BYTE = 3, 4, 6  # SentencePiece.Type


@dataclass(frozen=True)
class TextTokens:
    """Ids of a text. ``speakable`` is false where no id stands for a letter, digit or byte."""

    ids: list[int]
    speakable: bool
    unknown: int


class TextTokenizer:
    """Encodes user text with a bundle's SentencePiece model.

    Control symbols never come from user text: every piece the model marks control or user-defined
    and every id the metadata names are dropped after encoding, so no spelling or normalisation of
    them gets through. Pieces the model does not know are dropped and counted.
    """

    def __init__(self, bundle: Bundle) -> None:
        self._model = _load(bundle.tokenizer)
        pieces = _pieces(bundle.tokenizer)
        if len(pieces) > bundle.config.vocab_size:
            raise BundleError(
                f"{bundle.tokenizer} has {len(pieces)} pieces, but the model's vocabulary only "
                f"{bundle.config.vocab_size}"
            )
        self._unknown = self._model.unk_id()
        steering = {i for i, piece in enumerate(pieces) if piece.type in (_CONTROL, _USER_DEFINED)}
        self._dropped = steering | bundle.ids.text_ids() | {self._unknown}
        self._speakable = {
            i
            for i, piece in enumerate(pieces)
            if piece.type == _BYTE or any(c.isalnum() for c in piece.piece)
        } - self._dropped

    def encode(self, text: str) -> TextTokens:
        """Return the ids of a text, none of which steers the model."""
        # JSON can carry half of a surrogate pair, which UTF-8 and so the model cannot
        ids: list[int] = self._model.encode(text.encode("utf-8", "replace").decode("utf-8"))
        kept = [i for i in ids if i not in self._dropped]
        return TextTokens(
            ids=kept,
            speakable=not self._speakable.isdisjoint(kept),
            unknown=ids.count(self._unknown),
        )

    def count(self, text: str) -> int:
        """Return how many ids a text becomes."""
        return len(self.encode(text).ids)


def _load(path: Path) -> sentencepiece.SentencePieceProcessor:
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError) as error:
        raise BundleError(f"{path} is no SentencePiece model: {error}") from error


def _pieces(path: Path) -> list[Any]:
    # the processor itself does not tell user-defined pieces from normal ones
    return list(parse_file(path, _SENTENCEPIECE, "Model").pieces)
