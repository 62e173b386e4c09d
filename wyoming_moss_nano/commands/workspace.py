"""What a subcommand works with: its settings, and what they lead to on disk."""

from dataclasses import dataclass
from pathlib import Path

from ..embedded import REFERENCES_FOLDER
from ..model.bundle import Bundle, official_codec_id, read_bundle
from ..model.choice import choose_bundle, models_folder
from ..model.digests import DigestStore
from ..model.metadata import OFFICIAL_RULES
from ..settings import Settings
from ..voices.store import Places, VoiceStore


@dataclass(frozen=True)
class Workspace:
    """The settings of all sources."""

    settings: Settings

    def bundle(self) -> Bundle:
        """Return the bundle that the settings choose.

        Raises:
            BundleError: it is not there, or not whole.
        """
        settings = self.settings
        digests = DigestStore(settings.data_dir / "digests.json")
        return read_bundle(choose_bundle(settings.model, settings.data_dir), digests)

    def voices(self, bundle: Bundle) -> VoiceStore:
        """Return the voices that can speak on a bundle.

        Raises:
            VoiceError: the default voice is none of them.
        """
        return VoiceStore(
            bundle.builtin_voices,
            bundle.rules.languages,
            bundle.codec_id,
            self.places,
            self.settings.default_voice,
        )

    def reference_voices(self, bundle: Bundle) -> VoiceStore:
        """Return this project's own references as voices of a bundle."""
        return VoiceStore({}, bundle.rules.languages, bundle.codec_id, self.places)

    def official_voices(self) -> VoiceStore:
        """Return the voices that will speak once the official model is there.

        Raises:
            VoiceError: the default voice is none of them.
        """
        return VoiceStore(
            {},
            OFFICIAL_RULES.languages,
            official_codec_id(),
            self.places,
            self.settings.default_voice,
        )

    @property
    def models_folder(self) -> Path:
        """Where the official model lies."""
        return models_folder(self.settings.data_dir)

    @property
    def places(self) -> Places:
        """Where voices come from."""
        settings = self.settings
        folder = settings.voices_dir or settings.data_dir / "voices"
        return Places(REFERENCES_FOLDER, folder, settings.voices_file, settings.data_dir / "codes")


def tell(text: str) -> None:
    """Print what was asked for on standard output; everything else goes to the log."""
    print(text)  # noqa: T201
