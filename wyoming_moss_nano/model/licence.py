"""Whose work the official model is, and under what licence it is given."""

from pathlib import Path

from .manifest import PINNED_FILES, PinnedFile


def licence_file(models: Path) -> Path:
    """Return where licence and attribution of the weights are kept."""
    return models / "MODEL-LICENSE.txt"


def licence_text(files: tuple[PinnedFile, ...] = PINNED_FILES) -> str:
    """Return whose work the weights are, and under what licence it is given."""
    works = dict.fromkeys(f"  {file.repository}, revision {file.revision}\n" for file in files)
    return (
        "The official model is the work of the OpenMOSS team, published as\n"
        f"{''.join(works)}"
        "and licensed under the Apache License, Version 2.0. You may obtain a copy of the License\n"
        'at https://www.apache.org/licenses/LICENSE-2.0. It is distributed on an "AS IS" BASIS,\n'
        "WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. The files are\n"
        "unchanged; each folder's README.md is the publisher's own.\n"
    )
