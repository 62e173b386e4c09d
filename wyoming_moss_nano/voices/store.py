"""The voices that can speak on a bundle, by name."""

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..engine.codec import Codec
from ..errors import VoiceError
from ..model.bundle import Bundle
from .recording import read_recording

_LOGGER = logging.getLogger(__name__)

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Voice:
    """A voice: who it is and its reference as codes int32 [frames, codebooks]."""

    name: str
    languages: tuple[str, ...]
    description: str
    codes: Codes


@dataclass(frozen=True)
class PublishedVoice:
    """A voice as a client sees it: a name for each of its languages, which clients never send."""

    name: str
    voice: str
    language: str
    description: str


@dataclass(frozen=True)
class _Offer:
    """A voice that can be had; ``encode`` makes its codes when first asked for."""

    languages: tuple[str, ...]
    description: str
    encode: Callable[[], Codes]


class VoiceStore:
    """Voices of a bundle: those it offers itself, then synthetic references that fit any bundle.

    Recordings are encoded by the bundle's own codec when their voice first speaks.
    """

    def __init__(
        self,
        bundle: Bundle,
        codec: Codec,
        references: Path,
        default: str = "",
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self._offers = _builtin_offers(bundle) | _reference_offers(bundle, codec, references)
        self._aliases = {alias.lower(): name.lower() for alias, name in (aliases or {}).items()}
        self._voices: dict[str, Voice] = {}
        self._published = {voice.name: voice for voice in self._publish()}
        self.default = self._known(default or next(iter(self._offers)))
        for name in self._aliases.values():
            self._known(name)

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted(self._offers)

    def describe(self, name: str) -> str:
        """Return one line about a voice."""
        offer = self._offers[name]
        return f"{offer.description} ({', '.join(offer.languages)})"

    def get(self, name: str) -> Voice:
        """Return a voice by name, upper and lower case alike.

        Raises:
            VoiceError: no voice has this name, or its recording cannot be read.
        """
        key = self._known(name)
        if key not in self._voices:
            offer = self._offers[key]
            self._voices[key] = Voice(key, offer.languages, offer.description, offer.encode())
        return self._voices[key]

    def published(self) -> list[PublishedVoice]:
        """Return what clients may choose from, sorted by name."""
        return [self._published[name] for name in sorted(self._published)]

    def choose(self, name: str | None, language: str | None) -> str:
        """Return the name of the voice for a request: that one, one of the language, the default.

        A name that is not offered is the default voice and a warning: an announcement must sound.
        """
        if name is not None:
            try:
                return self._known(name)
            except VoiceError as error:
                _LOGGER.warning("Speaking with voice %s: %.300s", self.default, error)
        elif language is not None:
            bare = re.split("[-_]", language.lower())[0]
            speaking = [v.voice for v in self._published.values() if v.language == bare]
            if speaking and self.default not in speaking:
                return speaking[0]
        return self.default

    def _known(self, name: str) -> str:
        """Return the name of the voice that a name, an alias or a published name means."""
        key = name.lower()
        key = self._aliases.get(key, key)
        if key in self._published:
            return self._published[key].voice
        if key not in self._offers:
            known = ", ".join(self.names())
            raise VoiceError(f"there is no voice {name!r}; these can speak: {known}")
        return key

    def _publish(self) -> Iterator[PublishedVoice]:
        for name, offer in self._offers.items():
            for language in offer.languages:
                published = name if language == offer.languages[0] else f"{name}-{language}"
                yield PublishedVoice(published, name, language, offer.description)


def _builtin_offers(bundle: Bundle) -> dict[str, _Offer]:
    def offer(name: str, codes: Codes) -> _Offer:
        return _Offer(bundle.rules.languages, f"{name.capitalize()}, synthetic", lambda: codes)

    return {name: offer(name, codes) for name, codes in bundle.builtin_voices.items()}


def _reference_offers(bundle: Bundle, codec: Codec, folder: Path) -> dict[str, _Offer]:
    def offer(entry: Mapping[str, object]) -> _Offer:
        path = folder / str(entry["file"])

        def encode() -> Codes:
            config = bundle.codec
            return codec.encode(read_recording(path, config.sample_rate, config.channels))

        languages = entry["languages"]
        listed = tuple(languages) if isinstance(languages, list) else (str(languages),)
        return _Offer(listed, str(entry["description"]), encode)

    listing = json.loads((folder / "references.json").read_bytes())
    return {entry["name"]: offer(entry) for entry in listing["references"]}
