"""The order of the rules: what looks most like something special goes first."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from ..sentences import is_ideograph
from .addresses import Addresses
from .chinese import chinese
from .dutch import dutch
from .english import english
from .figures import Figures
from .french import french
from .german import german
from .italian import italian
from .language import Language, Rule
from .portuguese import portuguese
from .spanish import spanish

# Longer than any sign of a unit.
_LATIN_WORD: Final = re.compile(r"[A-Za-z]{6}")
# Greek begins there, whose mu and omega stand in units as well.
_END_OF_LATIN: Final = "\u0370"

LANGUAGES: Final[Mapping[str, Callable[[], Language]]] = {
    "de": german,
    "en": english,
    "es": spanish,
    "fr": french,
    "it": italian,
    "nl": dutch,
    "pt": portuguese,
    "zh": chinese,
}


class Speaker:
    """Turns sentences of one language into words."""

    def __init__(self, language: Language) -> None:
        figures = Figures(language)
        self._rules: tuple[Rule, ...] = (
            *language.first,
            Addresses(language),
            figures.fraction_signs,
            *language.early,
            figures.dates,
            figures.times,
            figures.durations,
            figures.phones,
            figures.ranges,
            figures.money,
            figures.quantities,
            figures.per,
            *language.late,
            figures.numbers,
            figures.rest,
            *language.last,
        )

    def __call__(self, sentence: str) -> str:
        """Return a clean sentence as it is spoken."""
        for rule in self._rules:
            sentence = rule(sentence)
        return sentence


def speak(sentence: str, language: str) -> str:
    """Return a clean sentence as it is spoken; unchanged in a language without rules."""
    speaker = _speaker(language)
    if speaker is None or _is_foreign(sentence, language):
        return sentence
    return speaker(sentence)


def _is_foreign(sentence: str, language: str) -> bool:
    """Return whether a sentence is in another script; signs of units are Latin everywhere."""
    if language == "zh":
        return not any(map(is_ideograph, sentence)) and bool(_LATIN_WORD.search(sentence))
    letters = sum(map(str.isalpha, sentence))
    latin = sum(c.isalpha() and c < _END_OF_LATIN for c in sentence)
    return 2 * latin < letters


# Rules never change once they are made, so everybody may share them.
@cache
def _speaker(language: str) -> Speaker | None:
    make = LANGUAGES.get(language)
    return None if make is None else Speaker(make())
