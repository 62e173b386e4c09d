"""How a text is read: in which language, by which rules, with which words of the user's own."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .pronounce import Pronunciations
from .speaking import speak


@dataclass(frozen=True)
class Reading:
    """How one request's text is read; the default only cleans it.

    ``language`` is a code such as "en", "" where none is known. ``normalize`` says whether numbers,
    units, dates and the like become words, for the languages that have rules. ``pronounce`` says
    how the user wants words said, and ``ssml`` that the text is SSML whatever it starts with.
    """

    language: str = ""
    normalize: bool = True
    pronounce: Mapping[str, str] = field(default_factory=dict)
    ssml: bool = False

    def speak(self, sentence: str) -> str:
        """Return a clean sentence as it is spoken; the user's own words have the last word."""
        pronunciations = Pronunciations(self.pronounce)
        text = pronunciations.protect(sentence)
        if self.normalize:
            text = speak(text, self.language)
        return pronunciations.say(text)
