"""Which bundle speaks: a name or a path, and what lies on disk, become the folder of a bundle."""

import logging
from pathlib import Path

from ..embedded import BUNDLE_FOLDER
from ..errors import BundleError
from .bundle import missing_official_files
from .manifest import PINNED_FILES

_LOGGER = logging.getLogger(__name__)


def models_folder(data_dir: Path) -> Path:
    """Return where the official model lies, under its two published folder names."""
    return data_dir / "models"


def choose_bundle(model: str, data_dir: Path) -> Path:
    """Return the folder of the bundle that ``model`` names: auto, official, embedded or a path.

    Nothing is ever downloaded.

    Raises:
        BundleError: the official model is asked for and not complete on disk.
    """
    folder = models_folder(data_dir)
    if model == "embedded":
        return BUNDLE_FOLDER
    if model == "official":
        missing = missing_official_files(folder)
        if missing:
            raise BundleError(
                f"the official model is not complete in {folder}: {len(missing)} of "
                f"{len(PINNED_FILES)} files are missing or cut off ({missing[0]}); "
                "fetch it with model fetch, or speak with --model embedded"
            )
        return folder
    if model == "auto":
        complete = not missing_official_files(folder)
        _LOGGER.info("Speaking with the %s model", "official" if complete else "embedded")
        return folder if complete else BUNDLE_FOLDER
    return Path(model).expanduser()
