"""The order of the rules: what looks most like something special goes first."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

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
    return sentence if speaker is None else speaker(sentence)


# Rules never change once they are made, so everybody may share them.
@cache
def _speaker(language: str) -> Speaker | None:
    make = LANGUAGES.get(language)
    return None if make is None else Speaker(make())
