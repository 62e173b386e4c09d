"""What a subcommand works with: its settings, and what they lead to on disk."""

from dataclasses import dataclass

from ..embedded import REFERENCES_FOLDER
from ..engine.speech import Engine
from ..model.bundle import Bundle, read_bundle
from ..model.choice import choose_bundle
from ..model.digests import DigestStore
from ..settings import Settings
from ..voices.file import VoicesFile
from ..voices.store import VoiceStore


@dataclass(frozen=True)
class Workspace:
    """Settings of all sources, and the voices file that is one of them."""

    settings: Settings
    voices_file: VoicesFile

    def bundle(self) -> Bundle:
        """Return the bundle that the settings choose.

        Raises:
            BundleError: it is not there, or not whole.
        """
        settings = self.settings
        digests = DigestStore(settings.data_dir / "digests.json")
        return read_bundle(choose_bundle(settings.model, settings.data_dir), digests)

    def voices(self, engine: Engine) -> VoiceStore:
        """Return the voices that can speak on an engine.

        Raises:
            VoiceError: the default voice or an alias names none of them.
        """
        return VoiceStore(
            engine.bundle,
            engine.codec,
            REFERENCES_FOLDER,
            self.settings.default_voice,
            self.voices_file.aliases,
        )


def tell(text: str) -> None:
    """Print what was asked for on standard output; everything else goes to the log."""
    print(text)  # noqa: T201
