"""The small built-in bundle and the synthetic reference recordings: data, and where it lies."""

from pathlib import Path
from typing import Final

BUNDLE_FOLDER: Final = Path(__file__).parent
REFERENCES_FOLDER: Final = BUNDLE_FOLDER / "references"
