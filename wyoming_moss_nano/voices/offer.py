"""Voices that can be had, and the names under which clients see them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import VoiceError
from .enrol import Encoder

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Offer:
    """A voice that can be had; ``encode`` gives its codes, when first asked for.

    ``recording`` is what that takes long for, if there is one.
    """

    languages: tuple[str, ...]
    description: str
    origin: str
    encode: Callable[[Encoder], Codes]
    recording: Path | None = None


@dataclass(frozen=True)
class PublishedVoice:
    """A voice as a client sees it: a name for each of its languages, which clients never send."""

    name: str
    voice: str
    language: str
    description: str


def publish(offers: Mapping[str, Offer]) -> Iterator[PublishedVoice]:
    """Yield what clients may choose from: every voice in each of its languages."""
    for name, offer in offers.items():
        for published, language in _published_names(name, offer).items():
            yield PublishedVoice(published, name, language, offer.description)


def _published_names(name: str, offer: Offer) -> dict[str, str]:
    """Return the names under which a voice is published, and the language of each."""
    first, *more = offer.languages
    return {name: first} | {f"{name}-{language}": language for language in more}


def check_free(name: str, offer: Offer, offers: Mapping[str, Offer]) -> None:
    """Refuse a name that another voice has, or is published under.

    Raises:
        VoiceError: the message says which name and whose.
    """
    taken = {
        published: other
        for other, its_offer in offers.items()
        for published in _published_names(other, its_offer)
    }
    for published in _published_names(name, offer):
        if published in taken:
            whose = taken[published]
            reason = "it is a voice already" if whose == published else f"voice {whose} has it"
            raise VoiceError(f"the name {published} is taken: {reason}")
