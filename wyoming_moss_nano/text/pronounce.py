"""The user's own words: how a word is said instead of how it is written."""

import re
from collections.abc import Mapping
from typing import Final

# A private character stands for a word while the rules are at work, so that none of them reads it.
_FIRST_PLACEHOLDER: Final = 0xF0000
_PLACEHOLDERS: Final = re.compile("[\U000f0000-\U000ffffd]")


class Pronunciations:
    """Replaces whole words; the longest entry wins.

    An entry in small letters means a word however it is written, one with a capital only as it is
    written there.
    """

    def __init__(self, entries: Mapping[str, str]) -> None:
        self._words = sorted(filter(None, map(str.strip, entries)), key=len, reverse=True)
        self._spoken = [entries.get(word, "") for word in self._words]
        self._exact = {word: i for i, word in enumerate(self._words)}
        self._any_case = {word: i for i, word in enumerate(self._words) if word == word.lower()}
        self._pattern = (
            re.compile(
                r"(?<!\w)(?:" + "|".join(map(re.escape, self._words)) + r")(?!\w)", re.IGNORECASE
            )
            if self._words
            else None
        )

    def protect(self, text: str) -> str:
        """Return a text in which the rules do not see the user's words."""
        return self._pattern.sub(self._placeholder, text) if self._pattern else text

    def say(self, text: str) -> str:
        """Return a text with the user's words as they are said, also those that the rules made."""
        return _PLACEHOLDERS.sub(self._said, self.protect(text))

    def _placeholder(self, found: re.Match[str]) -> str:
        index = self._exact.get(found[0], self._any_case.get(found[0].lower()))
        return found[0] if index is None else chr(_FIRST_PLACEHOLDER + index)

    def _said(self, found: re.Match[str]) -> str:
        index = ord(found[0]) - _FIRST_PLACEHOLDER
        return self._spoken[index] if index < len(self._spoken) else ""
