"""The token ids around reference and text in a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from .size import BundleSize
from .special import FIRST_PIECE, IM_END, IM_START, TEMPLATE_PIECES, USER_INST, USER_INST_END


@dataclass(frozen=True)
class PromptTemplate:
    """The three id lists of the manifest's prompt_templates."""

    user_prefix: Sequence[int]
    after_reference: Sequence[int]
    assistant_prefix: Sequence[int]


def _ids(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split())


# browser_poc_manifest.json of the published bundle.
_OFFICIAL = PromptTemplate(
    user_prefix=_ids("600 289 10356 13 10356 10425 1860 4546 12907 10363 13325 11492"),
    after_reference=_ids(
        """
        10356 10425 3965 7738 11492 505 587
        10356 10425 352 500 856 11492 505 587
        10356 10425 2128 1247 594 11492 505 587
        10356 10425 348 909 561 3648 11492 505 587
        10356 10425 2818 1305 355 348 909 11492 505 587
        10356 10425 484 339 10367 783 11492 505 587
        10356 10425 2427 980 11492
        """
    ),
    assistant_prefix=_ids("10356 14 5 4 8165 430"),
)

_WORDS = range(FIRST_PIECE, FIRST_PIECE + len(TEMPLATE_PIECES))
_SHORT = PromptTemplate(
    user_prefix=(_WORDS[0], USER_INST, _WORDS[1], _WORDS[2]),
    after_reference=(*_WORDS[3:9], _WORDS[3]),
    assistant_prefix=(_WORDS[9], USER_INST_END, IM_END, IM_START, _WORDS[10], _WORDS[11]),
)


def prompt_template(size: BundleSize) -> PromptTemplate:
    """The published template where the vocabulary has its ids, else a short one of our own."""
    largest = max(*_OFFICIAL.user_prefix, *_OFFICIAL.after_reference)
    return _OFFICIAL if largest < size.vocabulary else _SHORT
