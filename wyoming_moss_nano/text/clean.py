"""One sentence without what is not said: Markdown, emoji, invisible characters, odd punctuation."""

import re
import unicodedata
from typing import Final

_FENCE: Final = re.compile(r"\s*(?:```|~~~)[^`~]*$")
_RULE: Final = re.compile(r"\s*([-*_=])(?:\s*\1){2,}\s*$")
_TABLE_RULE: Final = re.compile(r"[\s|:+=-]+$")
_LINE_PREFIX: Final = re.compile(
    r"\s*(?:>\s*)*(?:#{1,6}(?:\s+|$)|(?:[-*+•◦▪‣·–—●○]\s+)+(?:\[[ xX]\]\s+)?)?"
)
_HEADING_END: Final = re.compile(r"\s+#+\s*$")
_FOOTNOTE: Final = re.compile(r"\[\^[^\[\]\s]{1,40}\]:?")
_LINK_TARGET: Final = re.compile(r"\](?:\([^()]*(?:\([^()]*\)[^()]*)?\)|\[[^\[\]]*\])")
_CITATION: Final = re.compile(r"(?<=\S)\[\d{1,3}\]")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_ESCAPED_CODE: Final = re.compile("\ufdd1(..)")
_EMPHASIS: Final = re.compile(r"\*\*+|~~+|`+|__+(?=\S)|(?<=\S)__+|\*(?=\S)|(?<=\S)\*")
_UNDERSCORE: Final = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
_MATHS: Final = re.compile(r"(?<=\d)\*(?=\d)")
_POWER: Final = re.compile(r"(?<=[\d\w])\*\*(?=\d)")

_KEYCAP: Final = re.compile("([0-9#*])\ufe0f?\u20e3")
_EMOJI: Final = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2300-\u23ff\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\u25a0-\u25ff\ufe00-\ufe0f\U000e0000-\U000e01ef\u00a9\u00ae\u2122]+"
)
_EMOTICON: Final = re.compile(r"(?<!\S)[:;]-?[()DPp](?![\w])")
_JOINER_IN_WORD: Final = re.compile("(?<=[\u0600-\u0dff])[\u200c\u200d](?=[\u0600-\u0dff])")
_INVISIBLE: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn"))

_SAME: Final = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»❝❞〝〞＂", '"'),
        **dict.fromkeys("‘’‚‛‹›′`´＇", "'"),
        **dict.fromkeys("‐‑﹣－", "-"),
        **dict.fromkeys("‒–", "–"),
        **dict.fromkeys("—―⸺⸻", "—"),
        **dict.fromkeys("・•◦▪‣●○∙", "•"),
        "″": '"',
        "…": "...",
        "＜": "<",
        "＞": ">",
        "｜": "|",
        "％": "%",
        "µ": "μ",
        "º": "°",
        "˚": "°",
        "℃": "°C",
        "℉": "°F",
        "№": "No. ",
        **{chr(0xFF10 + n): str(n) for n in range(10)},
        **{chr(0xFF21 + n): chr(0x41 + n) for n in range(26)},
        **{chr(0xFF41 + n): chr(0x61 + n) for n in range(26)},
    }
)
_DASH: Final = re.compile(r"\s*—+\s*|\s+–+\s+(?![\d$€£])|\s*-{2,}\s*")
_BULLET: Final = re.compile(r"\s*•+\s*")
_REPEATED: Final = re.compile(r"([!?,;:。！？，、；：।؟])(?:\s?\1)+")
_MIXED: Final = re.compile(r"[!?]*\?[!?]+|[!?]+\?[!?]*")
_DOTS: Final = re.compile(r"\.\.+|。。+")
_COMMAS: Final = re.compile(r",(?:\s*,)+|(?<=[.!?:;。！？]),+")
_BLANKS: Final = re.compile(r"\s+")
_BLANK_BEFORE_MARK: Final = re.compile(r"\s+(?=[,;!?。，！？、](?:\s|$))|\s+(?=\.(?:\s|$))")
_EMPTY_BRACKETS: Final = re.compile(r"\(\s*\)|\{\s*\}")
# No text may end up with what steers the model, however it was hidden.
_STEERING: Final = re.compile(r"<\|[^|<>\s]{0,40}\|>|</?user_inst>|<\||\|>|\]\]>", re.IGNORECASE)


def clean_sentence(text: str, *, at_line_start: bool = False) -> str:
    """Return a sentence of Markdown as plain text; "" if nothing of it is said.

    What stands at the start of a line (headings, list marks, quotes, tables, rules) means something
    only there.
    """
    text = _visible(_KEYCAP.sub(r"\1", text))
    if at_line_start:
        text = _without_line_marks(text)
    text = _without_inline_marks(text)
    return _tidy(_without_steering(_EMOTICON.sub(" ", text)))


def _visible(text: str) -> str:
    text = _EMOJI.sub(" ", text.replace("\u200d\ufe0f", ""))
    kept = _JOINER_IN_WORD.sub("\ufdd0", text)
    kept = "".join(
        " " if c == "\t" else c
        for c in kept
        if c.isascii() or c == "\ufdd0" or unicodedata.category(c) not in _INVISIBLE
    )
    kept = "".join(c for c in kept if c >= " " and c != "\x7f")
    return unicodedata.normalize("NFC", kept.replace("\ufdd0", "\u200c"))


def _without_line_marks(text: str) -> str:
    if _FENCE.match(text) or _RULE.match(text):
        return ""
    if text.lstrip().startswith("|"):
        if _TABLE_RULE.match(text):
            return ""
        return ", ".join(cell for part in text.split("|") if (cell := part.strip()))
    prefix = _LINE_PREFIX.match(text)
    if prefix and "#" in prefix[0]:
        text = _HEADING_END.sub("", text)
    return text[prefix.end() :] if prefix else text


def _without_inline_marks(text: str) -> str:
    text = _FOOTNOTE.sub("", text)
    text = text.replace("![", "[").replace("]]>", " ")
    text = _LINK_TARGET.sub("", _CITATION.sub("", text))
    escaped = _ESCAPED.sub(lambda mark: f"\ufdd1{ord(mark[1]):02x}", text)
    plain = _EMPHASIS.sub("", _MATHS.sub("×", _POWER.sub("^", escaped)))
    plain = _UNDERSCORE.sub(" ", plain).replace("[", " ").replace("]", " ")
    return _ESCAPED_CODE.sub(lambda code: chr(int(code[1], 16)), plain)


def _without_steering(text: str) -> str:
    text = text.translate(_SAME)
    while (safe := _STEERING.sub(" ", text)) != text:
        text = safe
    return text


def _tidy(text: str) -> str:
    text = _BULLET.sub(", ", _DASH.sub(", ", text))
    text = _MIXED.sub("?", _REPEATED.sub(r"\1", text))
    text = _DOTS.sub(lambda dots: "。" if dots[0][0] == "。" else "...", text)
    text = _EMPTY_BRACKETS.sub(" ", text)
    text = _BLANK_BEFORE_MARK.sub("", _BLANKS.sub(" ", text))
    return _COMMAS.sub(lambda found: "," if found[0][0] == "," else "", text).strip().lstrip(",;: ")
