"""The voices that can speak on a bundle, by name."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..engine.codec import Codec
from ..errors import VoiceError
from ..model.bundle import Bundle
from .recording import read_recording

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Voice:
    """A voice: who it is and its reference as codes int32 [frames, codebooks]."""

    name: str
    languages: tuple[str, ...]
    description: str
    codes: Codes


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

    def __init__(self, bundle: Bundle, codec: Codec, references: Path) -> None:
        self._offers = _builtin_offers(bundle) | _reference_offers(bundle, codec, references)
        self._voices: dict[str, Voice] = {}

    @property
    def default(self) -> str:
        """Name of the voice that speaks where none is asked for: the bundle's first."""
        return next(iter(self._offers))

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
        key = name.lower()
        if key not in self._offers:
            known = ", ".join(self.names())
            raise VoiceError(f"there is no voice {name!r}; these can speak: {known}")
        if key not in self._voices:
            offer = self._offers[key]
            self._voices[key] = Voice(key, offer.languages, offer.description, offer.encode())
        return self._voices[key]


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
