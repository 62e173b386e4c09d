"""How far a fetch is."""

import logging
from dataclasses import dataclass
from typing import Final

_LOGGER = logging.getLogger(__name__)

_PERCENT_PER_LINE: Final = 5


@dataclass(frozen=True)
class Progress:
    """How far a fetch is: the file that comes, and bytes of all its files together."""

    file: str
    done_bytes: int
    total_bytes: int

    @property
    def percent(self) -> int:
        """Whole per cent; 100 once every byte has arrived."""
        return 100 * self.done_bytes // self.total_bytes if self.total_bytes else 100


class ProgressLog:
    """Writes a line to the log for every five per cent."""

    def __init__(self) -> None:
        self._next = _PERCENT_PER_LINE

    def __call__(self, progress: Progress) -> None:
        """Take note of progress, and log it where five more per cent are reached."""
        if progress.percent >= self._next:
            self._next = progress.percent - progress.percent % _PERCENT_PER_LINE + _PERCENT_PER_LINE
            _LOGGER.info(
                "The official model: %d %% (%.0f of %.0f MB)",
                progress.percent,
                progress.done_bytes / 1e6,
                progress.total_bytes / 1e6,
            )
