"""Prompt rows: how a reference and a text are laid out for the language model.

A row has one text cell and one cell per codebook. Text rows carry an id and padding, reference rows
the user slot and the codes of one frame, generated rows the assistant slot and the codes just made.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.bundle import Bundle
from ..model.metadata import PromptTemplates, TokenIds

Rows = NDArray[np.int32]
Codes = NDArray[np.int32]


@dataclass(frozen=True)
class PromptLayout:
    """Lays out prompts of one bundle; rows are int32 [rows, codebooks + 1]."""

    ids: TokenIds
    templates: PromptTemplates
    codebooks: int

    @classmethod
    def of(cls, bundle: Bundle) -> "PromptLayout":
        """Return the layout of a bundle."""
        return cls(bundle.ids, bundle.templates, bundle.config.n_vq)

    def prompt(self, reference: Codes, text_ids: list[int]) -> Rows:
        """Return all rows of a request: the voice, then the text.

        Their number is the three templates, three audio marks, one per frame and one per token.
        """
        return np.concatenate([self.voice_rows(reference), self.speech_rows(text_ids)])

    def voice_rows(self, reference: Codes) -> Rows:
        """Return the rows before the text, the same for every request of a voice.

        Args:
            reference: codes int32 [frames, codebooks] of the voice's recording.
        """
        return np.concatenate(
            [
                self._text_rows([*self.templates.before_reference, self.ids.audio_start]),
                self._code_rows(self.ids.audio_user_slot, reference),
                self._text_rows([self.ids.audio_end, *self.templates.after_reference]),
            ]
        )

    def speech_rows(self, text_ids: list[int]) -> Rows:
        """Return the rows of the text and of the turn to speak."""
        return self._text_rows([*text_ids, *self.templates.assistant, self.ids.audio_start])

    def frame_row(self, frame: Codes) -> Rows:
        """Return the row [1, codebooks + 1] that tells the model the frame it has just made."""
        return self._code_rows(self.ids.audio_assistant_slot, frame[np.newaxis])

    def padding(self) -> Rows:
        """Return a row [1, codebooks + 1] that says nothing."""
        return self._text_rows([self.ids.pad])

    def _text_rows(self, text_ids: list[int]) -> Rows:
        rows = np.full((len(text_ids), self.codebooks + 1), self.ids.audio_pad, dtype=np.int32)
        rows[:, 0] = text_ids
        return rows

    def _code_rows(self, slot: int, codes: Codes) -> Rows:
        rows = np.empty((len(codes), self.codebooks + 1), dtype=np.int32)
        rows[:, 0] = slot
        rows[:, 1:] = codes
        return rows
