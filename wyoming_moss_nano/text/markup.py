"""Tags and entities of SSML and HTML: their text is kept, breaks become silence.

A text is read character by character, so it means the same wherever it was cut into parts.
"""

import html
import re
from collections.abc import Iterator
from typing import Final

from .piece import MOST_PAUSE_SECONDS, Break

_ATTRIBUTES: Final = r"""(?:\s+[\w:.-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>/]+))*"""
_TAG: Final = re.compile(rf"</?[A-Za-z][\w.-]*(?::[\w.-]+)?{_ATTRIBUTES}\s*/?>")
_TAG_HEAD: Final = re.compile(rf"</?([A-Za-z][\w.-]*){_ATTRIBUTES}\s*/?>?")
_CODE_TAG: Final = re.compile(r"<(?:[!?][^<>]*|\|[^<>]*\|)>")
_AUTOLINK: Final = re.compile(r"<([^\s<>]+[:@.][^\s<>]+)>")
_NAME: Final = re.compile(r"</?([A-Za-z][\w.:-]*)")
_TIME: Final = re.compile(r"""\btime\s*=\s*["']?\s*\+?(\d+(?:\.\d*)?|\.\d+)\s*(ms|s)?""")
_STRENGTH: Final = re.compile(r"""\bstrength\s*=\s*["']?\s*([\w-]+)""")
_ALIAS: Final = re.compile(r"""\balias\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')""")

# SSML 1.1 names the strengths and leaves their length to the processor.
_STRENGTHS: Final = {
    "none": 0.0,
    "x-weak": 0.1,
    "weak": 0.25,
    "medium": 0.5,
    "strong": 0.75,
    "x-strong": 1.0,
}

# Tags that stand between sentences; all others stand inside them.
_BLOCKS: Final = frozenset(
    "p s br hr div li ul ol tr table h1 h2 h3 h4 h5 h6 speak paragraph sentence pre".split()
)
# Names that are hardly anything but the beginning of a tag, even where its end is missing.
_SPEECH_TAGS: Final = frozenset(
    "speak break sub say-as prosody emphasis voice phoneme audio lang mark user_inst".split()
)

_LONGEST_TAG: Final = 1000
_LONGEST_REPLACED: Final = 300
_LONGEST_ENTITY: Final = 33  # &CounterClockwiseContourIntegral;


class MarkupReader:
    """Yields the text of marked-up text as it arrives, and its breaks.

    Args:
        ssml: whether the text is SSML; a text that starts with ``<speak`` is, too. In SSML a line
            end is a space, as it is in any XML, and whatever looks like a tag is one.
    """

    def __init__(self, *, ssml: bool = False) -> None:
        self._ssml = ssml
        self._begun = False
        self._held = ""
        # what a <sub> stands for was said already; this is what it stands around
        self._replaced: str | None = None

    def add(self, text: str) -> Iterator[str | Break]:
        """Take more text; yield what is certain."""
        waiting = list(reversed(text))
        while waiting:
            character = waiting.pop()
            if not self._held:
                if character in "<&":
                    self._held = character
                else:
                    yield from self._emit(character)
            elif self._held[0] == "&":
                yield from self._add_to_entity(character, waiting)
            else:
                yield from self._add_to_tag(character, waiting)

    def finish(self) -> Iterator[str | Break]:
        """Yield what was held back."""
        while self._held:
            waiting: list[str] = []
            if self._held[0] == "&":
                held, self._held = self._held, ""
                yield from self._emit(held)
            else:
                yield from self._give_up(waiting)
            yield from self.add("".join(reversed(waiting)))
        yield from self._release_replaced()

    def _emit(self, text: str) -> Iterator[str | Break]:
        if not self._begun:
            text = text.lstrip()
            self._begun = bool(text)
        if self._ssml:
            text = text.replace("\n", " ").replace("\r", " ")
        if self._replaced is None:
            if text:
                yield text
            return
        self._replaced += text
        if len(self._replaced) > _LONGEST_REPLACED:
            yield from self._release_replaced()

    def _release_replaced(self) -> Iterator[str | Break]:
        replaced, self._replaced = self._replaced, None
        if replaced:
            yield " " + replaced

    def _add_to_entity(self, character: str, waiting: list[str]) -> Iterator[str | Break]:
        if character == ";":
            held, self._held = self._held + ";", ""
            yield from self._emit(html.unescape(held))
        elif (character.isalnum() or character == "#") and len(self._held) < _LONGEST_ENTITY:
            self._held += character
        else:
            held, self._held = self._held, ""
            waiting.append(character)
            yield from self._emit(held)

    def _add_to_tag(self, character: str, waiting: list[str]) -> Iterator[str | Break]:
        if len(self._held) == 1 and not (character.isalnum() or character in "/!?|"):
            waiting.append(character)
            self._held = ""
            yield from self._emit("<")
            return
        comment = self._held.startswith("<!--")
        if character == "<" and not comment:
            waiting.append(character)
            yield from self._give_up(waiting)
            return
        self._held += character
        if self._held == "<![CDATA[":
            self._held = ""
        elif character == ">" and (not comment or self._held.endswith("-->")):
            yield from self._end_tag(waiting)
        elif len(self._held) > _LONGEST_TAG or (character == "\n" and not self._tag_may_span_lines):
            yield from self._give_up(waiting)

    @property
    def _tag_may_span_lines(self) -> bool:
        return self._ssml or self._held.startswith("<!--")

    def _end_tag(self, waiting: list[str]) -> Iterator[str | Break]:
        held = self._held
        if autolink := _AUTOLINK.fullmatch(held):
            self._held = ""
            yield from self._emit(autolink[1])
        elif _CODE_TAG.fullmatch(held) or held.startswith("<!--"):
            self._held = ""
        elif self._ssml or not self._begun or _TAG.fullmatch(held):
            self._held = ""
            yield from self._mean(held)
        else:
            yield from self._give_up(waiting)

    def _give_up(self, waiting: list[str]) -> Iterator[str | Break]:
        """Take what is held for text, or for a tag whose end is missing and the text behind it."""
        held, self._held = self._held, ""
        head = _TAG_HEAD.match(held)
        if head and (self._ssml or head[1].lower() in _SPEECH_TAGS):
            waiting.extend(reversed(held[head.end() :]))
            yield from self._mean(head[0])
            return
        waiting.extend(reversed(held[1:]))
        yield from self._emit(held[0])

    def _mean(self, tag: str) -> Iterator[str | Break]:
        found = _NAME.match(tag)
        name = found[1].lower() if found else ""
        closing = tag.startswith("</")
        if name == "speak" and not self._begun:
            self._ssml = True
        if name == "sub" and closing:
            self._replaced = None
            return
        yield from self._release_replaced()
        if name == "break" and not closing:
            self._begun = True
            yield Break(_seconds(tag))
        elif name == "sub" and (alias := _ALIAS.search(tag)):
            yield from self._emit(html.unescape(alias[1] or alias[2] or ""))
            self._replaced = ""
        elif name in _BLOCKS:
            yield "\n"
        elif name in ("td", "th"):
            yield " "


def _seconds(tag: str) -> float:
    if time := _TIME.search(tag):
        scale = 0.001 if time[2] == "ms" else 1.0
        return min(float(time[1]) * scale, MOST_PAUSE_SECONDS)
    strength = _STRENGTH.search(tag)
    return _STRENGTHS.get(strength[1] if strength else "medium", _STRENGTHS["medium"])
