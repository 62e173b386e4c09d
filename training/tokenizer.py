"""The bundle's tokenizer: SentencePiece, a piece for each letter, at ids the model knows.

Its normaliser maps what has a letter, a mark or a word to stand for it; all else has no piece and
becomes the unknown id, which is dropped. Control tokens have no spelling that a text could use.
"""

import tempfile
import unicodedata
from pathlib import Path
from typing import Final

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as model_file

from . import tokens
from .numerals import ONES
from .texts import CHARACTERS

CONTROLS: Final = (
    "<s>",
    "</s>",
    "<|im_start|>",
    "<|im_end|>",
    "<|audio_start|>",
    "<|audio_end|>",
    "<|audio_user_slot|>",
    "<|audio_assistant_slot|>",
    "<|pad|>",
)
MARKS: Final = {
    "!": ".",
    ";": ",",
    ":": ",",
    "\u2019": "'",
    "\u2018": "'",
    "`": "'",
    "\u00b4": "'",
    '"': " ",
    "\u201c": " ",
    "\u201d": " ",
    "\u201e": " ",
    "\u00ab": " ",
    "\u00bb": " ",
    "(": ", ",
    ")": ", ",
    "[": ", ",
    "]": ", ",
    "-": " ",
    "\u2010": " ",
    "\u2011": " ",
    "\u2013": ", ",
    "\u2014": ", ",
    "_": " ",
    "/": " ",
    "\u2026": ".",
    "\u3002": ". ",
    "\u3001": ", ",
    "\u00bf": " ",
    "\u00a1": " ",
    "\n": " ",
    "\t": " ",
    "\r": " ",
    "\u00a0": " ",
}
SIGNS: Final = {
    "%": "percent",
    "\u00b0": "degrees",
    "&": "and",
    "+": "plus",
    "=": "equals",
    "@": "at",
    "#": "number",
    "$": "dollars",
    "\u20ac": "euros",
    "\u00a3": "pounds",
    "\u00d7": "times",
}
LETTERS: Final = {
    "\u00df": "ss",
    "\u00e6": "ae",
    "\u00c6": "ae",
    "\u0153": "oe",
    "\u0152": "oe",
    "\u00f8": "o",
    "\u00d8": "o",
    "\u0142": "l",
    "\u0141": "l",
    "\u0111": "d",
    "\u0110": "d",
    "\u00f0": "th",
    "\u00d0": "th",
    "\u00fe": "th",
    "\u00de": "th",
    "\u0131": "i",
}
LAST_MAPPED: Final = 0xFFFF


def rules() -> dict[str, str]:
    """Return what the normaliser writes for a character, for all it does not leave as it is."""
    written = {capital: capital.lower() for capital in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    written |= {str(number): f" {word} " for number, word in enumerate(ONES[:10])}
    written |= MARKS | LETTERS
    written |= {sign: f" {word} " for sign, word in SIGNS.items()}
    for code in range(0x80, LAST_MAPPED + 1):
        character = chr(code)
        if character not in written and not 0xD800 <= code <= 0xDFFF:
            plain = decomposed(character, written)
            if plain is not None:
                written[character] = plain
    return written


def decomposed(character: str, written: dict[str, str]) -> str | None:
    """Return how a compatible or accented character is written with known ones, if it can be."""
    parts = unicodedata.normalize("NFKD", character)
    if parts == character:
        # an accent that stands alone, after its letter
        return "" if unicodedata.combining(character) and code_is_accent(character) else None
    base = "".join(part for part in parts if not unicodedata.combining(part))
    plain = "".join(written.get(part, part) for part in base)
    return plain if plain and all(part in CHARACTERS for part in plain) else None


def code_is_accent(character: str) -> bool:
    return 0x300 <= ord(character) <= 0x36F


def build_tokenizer(path: Path) -> None:
    """Write the tokenizer.

    Raises:
        ValueError: it does not give the ids that the model was trained with.
    """
    with tempfile.TemporaryDirectory() as folder:
        table, text = Path(folder) / "rules.tsv", Path(folder) / "letters.txt"
        table.write_text(
            "".join(f"{code_points(old)}\t{code_points(new)}\n" for old, new in rules().items())
        )
        text.write_text(CHARACTERS.strip() + "\n")
        sentencepiece.SentencePieceTrainer.train(
            input=str(text),
            model_prefix=f"{folder}/letters",
            model_type="char",
            vocab_size=tokens.VOCABULARY,
            hard_vocab_limit=False,
            character_coverage=1.0,
            normalization_rule_tsv=str(table),
            add_dummy_prefix=False,
            minloglevel=2,
        )
        model = model_file.ModelProto.FromString(Path(f"{folder}/letters.model").read_bytes())
    replace_pieces(model)
    path.write_bytes(model.SerializeToString())
    check(path)


def replace_pieces(model: model_file.ModelProto) -> None:
    """Put the pieces at the ids of tokens.py."""
    kinds = model_file.ModelProto.SentencePiece
    del model.pieces[:]
    model.pieces.add(piece="<unk>", score=0, type=kinds.UNKNOWN)
    for control in CONTROLS:
        model.pieces.add(piece=control, score=0, type=kinds.CONTROL)
    for place, character in enumerate(CHARACTERS):
        piece = "\u2581" if character == " " else character
        model.pieces.add(piece=piece, score=-float(place), type=kinds.NORMAL)
    model.trainer_spec.vocab_size = len(model.pieces)
    model.trainer_spec.pad_id = tokens.PAD


def check(path: Path) -> None:
    """Encode a text and compare."""
    encoder = sentencepiece.SentencePieceProcessor(model_file=str(path))
    found = encoder.encode("Turn ON the K\u00fcche, please!", out_type=int)
    wanted = tokens.character_ids("turn on the kuche, please.")
    if found != wanted:
        raise ValueError(f"the tokenizer gives {found}, not {wanted}")


def code_points(text: str) -> str:
    return " ".join(f"{ord(character):X}" for character in text)
