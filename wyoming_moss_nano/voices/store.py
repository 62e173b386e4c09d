"""The voices that can speak, by name: of the bundle, of this project, and of the user."""

import json
import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import BundleError, MossNanoError, SettingsError, VoiceError
from ..model.metadata import check_codes
from .encoded import EncodedRecordings
from .enrol import Encoder, enrol, prepare
from .file import ListedVoice, VoicesFile, read_voices_file
from .offer import Codes, Offer, PublishedVoice, check_free, publish
from .voice_file import (
    SUFFIX,
    Authorization,
    VoiceFile,
    check_name,
    read_voice,
    recording_path,
)

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Voice:
    """A voice: who it is and its reference as codes int32 [frames, codebooks]."""

    name: str
    languages: tuple[str, ...]
    description: str
    codes: Codes


@dataclass(frozen=True)
class Places:
    """Where voices come from: references of this project, enrolled voices, the voices file.

    ``codes_dir`` is where codes of recordings are kept between starts; None keeps none.
    """

    references: Path
    voices_dir: Path
    voices_file: Path
    codes_dir: Path | None = None


class VoiceStore:
    """Voices by name: built-in ones, this project's references, then the user's own.

    ``builtin`` are codes of the bundle's own voices by name, all of which speak ``languages``.
    Recordings are encoded by the bundle's own codec when their voice first speaks, and remembered.
    Files that come, change or go are noticed by ``refresh``. May be used by several threads.

    Raises:
        VoiceError: the default voice is none of them.
    """

    def __init__(
        self,
        builtin: Mapping[str, Codes],
        languages: tuple[str, ...],
        codec_id: str,
        places: Places,
        default: str = "",
    ) -> None:
        self._places = places
        self._codec_id = codec_id
        self._own = {
            name: Offer(languages, f"{name.capitalize()}, synthetic", "built in", _always(codes))
            for name, codes in builtin.items()
        }
        self._own |= _reference_offers(places.references)
        self._encoded: dict[str, tuple[Offer, Voice]] = {}
        self._kept = None
        if places.codes_dir is not None:
            self._kept = EncodedRecordings(places.codes_dir, codec_id)
        self._encoding = threading.Lock()
        self._stamp: object = None
        self._listed_sources: tuple[Path, ...] = ()
        self._wanted_default = default
        self.refresh()
        if default:
            self._known(default)

    @property
    def default(self) -> str:
        """Name of the voice that speaks where none is asked for."""
        try:
            return self._known(self._wanted_default or next(iter(self._own))).voice
        except VoiceError:
            # it was there at the start and its file has gone since
            return next(iter(self._own))

    def refresh(self) -> None:
        """Look at the user's files again if one has come, changed or gone."""
        if self._stamp == _stamp_of(self._places, self._listed_sources):
            return
        try:
            listed = read_voices_file(self._places.voices_file, needed=False)
        except SettingsError as error:
            _LOGGER.error("The voices file is not used: %s", error)  # noqa: TRY400 - one line
            listed = VoicesFile()
        self._listed_sources = tuple(voice.source for voice in listed.voices)
        self._stamp = _stamp_of(self._places, self._listed_sources)
        offers = dict(self._own)
        for name, offer in (*self._enrolled(), *self._listed(listed)):
            try:
                check_free(name, offer, offers)
                offers[name] = offer
            except VoiceError as error:
                _LOGGER.error("Voice %s is left out: %s", name, error)  # noqa: TRY400
        self._offers = offers
        if self._kept is not None:
            self._kept.forget_others(offers)
        self._pronounce = listed.pronounce
        self._aliases = {alias.lower(): name.lower() for alias, name in listed.aliases.items()}
        self._published = {voice.name: voice for voice in publish(offers)}
        for alias, name in self._aliases.items():
            if name not in self._published:
                _LOGGER.warning("The alias %s means %s, which is no voice", alias, name)

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted(self._offers)

    def describe(self, name: str) -> str:
        """Return one line about a voice."""
        offer = self._offers[self._known(name).voice]
        return f"{offer.description} ({', '.join(offer.languages)}; {offer.origin})"

    def enrolled_names(self) -> list[str]:
        """Return the names of voices that the user has added."""
        return [name for name, offer in self._offers.items() if offer.origin.startswith("enrolled")]

    def recordings(self) -> list[str]:
        """Return the names of voices that are made of recordings the voices file lists."""
        return [name for name, offer in self._offers.items() if offer.origin == "voices file"]

    def encode_recordings(self, encoder: Encoder, ending: threading.Event) -> None:
        """Make voices of the recordings the voices file lists, before somebody waits for one.

        A recording that is not fit is logged and its voice left out.
        """
        for name in self.recordings():
            if ending.is_set():
                return
            try:
                self.get(name, encoder)
            except MossNanoError as error:
                _LOGGER.error("Voice %s is left out: %s", name, error)  # noqa: TRY400
                self._leave_out(name)

    def _leave_out(self, name: str) -> None:
        self._offers = {key: offer for key, offer in self._offers.items() if key != name}
        self._published = {voice.name: voice for voice in publish(self._offers)}

    def published(self) -> list[PublishedVoice]:
        """Return what clients may choose from, sorted by name."""
        return [self._published[name] for name in sorted(self._published)]

    def get(self, name: str, encoder: Encoder) -> Voice:
        """Return a voice by name, upper and lower case alike.

        Raises:
            VoiceError: no voice has this name, or its recording cannot be used.
        """
        key = self._known(name).voice
        offer = self._offers[key]
        with self._encoding:
            known = self._encoded.get(key)
            if known is None or known[0] is not offer:
                codes = self._codes(key, offer, encoder)
                voice = Voice(key, offer.languages, offer.description, codes)
                known = self._encoded[key] = (offer, voice)
        return known[1]

    def _codes(self, name: str, offer: Offer, encoder: Encoder) -> Codes:
        if self._kept is None or offer.recording is None:
            return offer.encode(encoder)
        kept = self._kept.read(name, offer.recording)
        if kept is not None and _fits(kept, encoder):
            return kept
        codes = offer.encode(encoder)
        self._kept.keep(name, offer.recording, codes)
        return codes

    def pronunciations(self, language: str) -> dict[str, str]:
        """Return what the user wants said for a word of a language."""
        return self._pronounce.get(language, {})

    def language(self, name: str) -> str:
        """Return the language that a voice is published with under a name.

        Raises:
            VoiceError: no voice has this name.
        """
        return self._known(name).language

    def choose(self, name: str | None, language: str | None) -> PublishedVoice:
        """Return the voice for a request: that one, one of the language, the default.

        A name that is not offered is the default voice and a warning: an announcement must sound.
        """
        if name is not None:
            if name.lower() not in self._published:
                self.refresh()
            try:
                return self._known(name)
            except VoiceError as error:
                _LOGGER.warning("Speaking with voice %s: %.300s", self.default, error)
        elif language is not None:
            bare = re.split("[-_]", language.lower())[0]
            speaking = [v for v in self._published.values() if v.language == bare]
            for voice in speaking:
                if voice.voice == self.default:
                    return voice
            if speaking:
                return speaking[0]
        return self._known(self.default)

    def check_new_name(self, name: str, languages: tuple[str, ...]) -> None:
        """Refuse a name that a new voice cannot have.

        Raises:
            VoiceError: it is no name, taken, or published for a language of another voice.
        """
        check_name(name)
        offer = Offer(languages, "", "", lambda _: np.zeros((0, 0), np.int32))
        check_free(name, offer, self._offers)

    def _known(self, name: str) -> PublishedVoice:
        """Return the voice that a name, an alias or a published name means."""
        key = name.lower()
        key = self._aliases.get(key, key)
        if key in self._published:
            return self._published[key]
        known = ", ".join(self.names())
        raise VoiceError(f"there is no voice {name!r}; these can speak: {known}")

    def _enrolled(self) -> Iterator[tuple[str, Offer]]:
        for path in sorted(self._places.voices_dir.glob(f"*{SUFFIX}")):
            try:
                voice = _read_own_voice(path)
                yield voice.name, self._file_offer(path, voice, voice.languages, "")
            except VoiceError as error:
                _LOGGER.error("Voice %s is left out: %s", path.name, error)  # noqa: TRY400

    def _listed(self, listed: VoicesFile) -> Iterator[tuple[str, Offer]]:
        for entry in listed.voices:
            if entry.authorization is not None:
                yield entry.name, _recording_offer(entry, entry.authorization)
                continue
            try:
                voice = read_voice(entry.source)
                yield (
                    entry.name,
                    self._file_offer(entry.source, voice, entry.languages, entry.description),
                )
            except VoiceError as error:
                _LOGGER.error("Voice %s is left out: %s", entry.name, error)  # noqa: TRY400

    def _file_offer(
        self, path: Path, voice: VoiceFile, languages: tuple[str, ...], description: str
    ) -> Offer:
        recording = recording_path(path)
        text = description or voice.description or voice.name.capitalize()
        if voice.codec_id == self._codec_id:

            def own_codes(encoder: Encoder) -> Codes:
                return checked_codes(voice, encoder, path)

            return Offer(languages, text, "enrolled", own_codes)
        if not recording.is_file():
            raise VoiceError(
                f"{path} was encoded for another model and its recording was not kept: "
                f"remove it with voice remove {voice.name} and add it again"
            )

        def again(encoder: Encoder) -> Codes:
            _LOGGER.info("Encoding voice %s for this model", voice.name)
            return encoder.encode(encoder.read(recording).sound)

        return Offer(languages, text, "enrolled, encoded again", again, recording)


def _read_own_voice(path: Path) -> VoiceFile:
    voice = read_voice(path)
    if f"{voice.name}{SUFFIX}" != path.name:
        raise VoiceError(f"{path} holds a voice of another name, {voice.name}")
    return voice


def checked_codes(voice: VoiceFile, encoder: Encoder, path: Path) -> Codes:
    """Return a voice's codes if they are codes of the bundle's codebooks.

    Raises:
        VoiceError: they are not; the file was edited or damaged.
    """
    try:
        return check_codes(voice.codes, encoder.bundle.config.codebook_sizes, str(path))
    except BundleError as error:
        raise VoiceError(str(error)) from None


def _fits(codes: Codes, encoder: Encoder) -> bool:
    """Whether codes read from a file are codes of the bundle's codebooks."""
    try:
        check_codes(codes, encoder.bundle.config.codebook_sizes, "kept codes")
    except BundleError:
        return False
    return True


def _always(codes: Codes) -> Callable[[Encoder], Codes]:
    return lambda _: codes


def _reference_offers(folder: Path) -> dict[str, Offer]:
    def offer(entry: Mapping[str, object]) -> Offer:
        path = folder / str(entry["file"])

        def encode(encoder: Encoder) -> Codes:
            return encoder.encode(prepare(encoder.read(path).sound, encoder.sample_rate))

        languages = entry["languages"]
        listed = tuple(languages) if isinstance(languages, list) else (str(languages),)
        return Offer(listed, str(entry["description"]), "synthetic reference", encode, path)

    listing = json.loads((folder / "references.json").read_bytes())
    return {entry["name"]: offer(entry) for entry in listing["references"]}


def _recording_offer(entry: ListedVoice, authorization: Authorization) -> Offer:
    def encode(encoder: Encoder) -> Codes:
        made = enrol(
            encoder, entry.source, entry.name, entry.languages, entry.description, authorization
        )
        return made.voice.codes

    text = entry.description or entry.name.capitalize()
    return Offer(entry.languages, text, "voices file", encode, entry.source)


def _stamp_of(places: Places, listed: tuple[Path, ...]) -> object:
    """Return what changes when one of the user's files does."""
    files = [places.voices_file, *sorted(places.voices_dir.glob(f"*{SUFFIX}")), *listed]
    stamp = []
    for path in files:
        try:
            status = path.stat()
            stamp.append((str(path), status.st_size, status.st_mtime_ns))
        except OSError:
            stamp.append((str(path), 0, 0))
    return stamp
