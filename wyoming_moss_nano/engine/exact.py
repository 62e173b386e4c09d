"""The global transformer by the published graphs: the frames of the publisher's own runtime."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.bundle import Bundle
from ..model.sessions import Sessions
from .prompt import Codes, PromptLayout, Rows
from .sampling import FloatArray


@dataclass
class ExactReading:
    """Prompt rows not read yet, or the keys and values of all rows that were."""

    prompt: Rows
    past: dict[str, NDArray[Any]] = field(default_factory=dict)
    length: int = 0


class ExactTransformer:
    """The published prefill and decode_step graphs, one piece after the other."""

    def __init__(self, bundle: Bundle, sessions: Sessions) -> None:
        self._sessions = sessions
        self._layout = PromptLayout.of(bundle)
        self._names = [
            (f"past_{part}_{layer}", f"present_{part}_{layer}")
            for layer in range(bundle.config.global_layers)
            for part in ("key", "value")
        ]

    def open(self, reference: Codes, text_ids: list[int]) -> ExactReading:
        """See Transformer.open."""
        return ExactReading(self._layout.prompt(reference, text_ids))

    def read(self, steps: Sequence[tuple[ExactReading, Codes | None]]) -> FloatArray:
        """See Transformer.read."""
        return np.concatenate([self._read_one(reading, frame) for reading, frame in steps])

    def close(self, reading: ExactReading) -> None:
        """See Transformer.close."""
        reading.past.clear()

    def _read_one(self, reading: ExactReading, frame: Codes | None) -> FloatArray:
        if frame is None:
            rows = reading.prompt
            graph = self._sessions.graph("prefill")
            mask = np.ones((1, len(rows)), dtype=np.int32)
            outputs = graph.run({"input_ids": rows[np.newaxis], "attention_mask": mask})
        else:
            rows = self._layout.frame_row(frame)
            graph = self._sessions.graph("decode_step")
            length = np.array([reading.length], dtype=np.int32)
            outputs = graph.run(
                {"input_ids": rows[np.newaxis], "past_valid_lengths": length, **reading.past}
            )
        reading.length += len(rows)
        reading.past = {past: outputs[present] for past, present in self._names}
        hidden: FloatArray = outputs["global_hidden"][:, -1]
        return hidden
