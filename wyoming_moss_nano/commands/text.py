"""The subcommand text: how a text is read, without speaking."""

import argparse
import json
import sys

from ..model.tokenizer import TextTokenizer
from ..text.piece import Piece
from ..text.reading import Reading
from ..text.stream import clean_text, split_text
from ..voices.file import read_voices_file
from .workspace import Workspace, tell


def text(parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Print a text as it is cleaned, as it is spoken, and its pieces."""
    written = sys.stdin.read() if parsed.text == "-" else parsed.text
    settings, bundle = workspace.settings, workspace.bundle()
    language = parsed.language.lower().replace("_", "-").split("-")[0]
    listed = read_voices_file(settings.voices_file, needed=False)
    reading = Reading(
        language,
        normalize=not settings.no_normalize,
        pronounce=listed.pronounce.get(language, {}),
        ssml=parsed.ssml,
    )
    tokenizer = TextTokenizer(bundle)
    sentences = clean_text(written, reading)
    cleaned = " ".join(sentences)
    spoken = " ".join(map(reading.speak, sentences))
    budget = bundle.rules.max_text_tokens
    pieces = _with_pauses(
        split_text(written, tokenizer.count, budget, reading), settings.sentence_silence
    )
    counted = [(piece, tokenizer.count(piece.text)) for piece in pieces]
    if parsed.json:
        listing = [{"text": p.text, "tokens": n, "pause_s": p.pause_s} for p, n in counted]
        tell(
            json.dumps(
                {"cleaned": cleaned, "spoken": spoken, "pieces": listing}, ensure_ascii=False
            )
        )
        return
    tell(f"cleaned  {cleaned}")
    tell(f"spoken   {spoken}")
    tell(f"pieces   of at most {budget} tokens, with the pause behind each")
    for piece, tokens in counted:
        tell(f"  {tokens:4} tokens  {piece.pause_s:5.2f} s  {piece.text or '(silence)'}")


def _with_pauses(pieces: list[Piece], between: float) -> list[Piece]:
    """Return pieces with the pause that is really made behind each, but for the end of it all."""
    return [
        piece if piece.pause_s or not following else Piece(piece.text, between)
        for piece, following in zip(pieces, [*pieces[1:], None], strict=True)
    ]
