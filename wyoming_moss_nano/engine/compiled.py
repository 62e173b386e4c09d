"""The global transformer by compiled graphs: several pieces per call, each voice read once.

Keys and values lie in buffers of their own, one slot per piece, which the graph reads and extends
in place.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..errors import SpeechError
from ..model.bundle import Bundle
from ..model.compiled import MOST_ROWS, CompiledSessions
from .local import FrameSampler, FrameSamplers, GreedyTogether, SampledTogether
from .prompt import Codes, PromptLayout, Rows
from .sampling import FloatArray

# What the buffers begin with; they double when it does not suffice, which copies them once. A voice
# of ten seconds and a sentence fit into 256 rows.
_FIRST_CAPACITY: Final = 256
_FIRST_SLOTS: Final = 1

# Of keys and values of voices: about six of ten seconds at the official size.
PREFIX_BUDGET_BYTES: Final = 64 * 2**20


@dataclass(frozen=True)
class Prefix:
    """The rows before the text of one voice, read: per buffer [heads, rows, head_dim]."""

    rows: int
    kept: list[FloatArray]

    @property
    def nbytes(self) -> int:
        """What keeping it costs."""
        return sum(part.nbytes for part in self.kept)


class KeyValues:
    """Keys and values of all layers, float32 [slots, heads, capacity, head_dim] each."""

    def __init__(self, bundle: Bundle) -> None:
        config = bundle.config
        self._names = [
            f"{part}_{layer}" for layer in range(config.global_layers) for part in ("key", "value")
        ]
        self._shape = (config.global_heads, config.head_dim)
        self._buffers = self._empty(_FIRST_SLOTS, _FIRST_CAPACITY)
        self._lengths: dict[int, int] = {}

    def take(self) -> int:
        """Return a slot nobody has; it holds no rows."""
        free = next(slot for slot in range(len(self._lengths) + 1) if slot not in self._lengths)
        if free == len(self._buffers[0]):
            self._grow(2 * free, self.capacity)
        self._lengths[free] = 0
        return free

    def release(self, slot: int) -> None:
        """Give a slot back."""
        del self._lengths[slot]

    def length(self, slot: int) -> int:
        """Rows that a slot holds; none if nobody has it."""
        return self._lengths.get(slot, 0)

    def extend(self, slot: int, rows: int) -> None:
        """Note that so many rows were added to a slot."""
        self._lengths[slot] += rows

    @property
    def capacity(self) -> int:
        """Rows that fit into a slot."""
        return int(self._buffers[0].shape[2])

    def reserve(self, rows: int) -> None:
        """Make room for so many rows in every slot."""
        capacity = self.capacity
        while capacity < rows:
            capacity *= 2
        if capacity != self.capacity:
            self._grow(len(self._buffers[0]), capacity)

    def ports(self, when: str, first: int, last: int) -> dict[str, FloatArray]:
        """Return the buffers of slots first to last by port name, past_key_0 or present_key_0."""
        return {
            f"{when}_{name}": buffer[first : last + 1]
            for name, buffer in zip(self._names, self._buffers, strict=True)
        }

    def copy_out(self, slot: int) -> Prefix:
        """Return a copy of the rows of a slot."""
        rows = self._lengths[slot]
        return Prefix(rows, [buffer[slot, :, :rows].copy() for buffer in self._buffers])

    def copy_in(self, slot: int, prefix: Prefix) -> None:
        """Put copied rows into an empty slot."""
        self.reserve(prefix.rows)
        for buffer, kept in zip(self._buffers, prefix.kept, strict=True):
            buffer[slot, :, : prefix.rows] = kept
        self._lengths[slot] = prefix.rows

    def _empty(self, slots: int, capacity: int) -> list[FloatArray]:
        heads, width = self._shape
        shape = (slots, heads, capacity, width)
        return [np.zeros(shape, dtype=np.float32) for _ in self._names]

    def _grow(self, slots: int, capacity: int) -> None:
        old, self._buffers = self._buffers, self._empty(slots, capacity)
        for before, after in zip(old, self._buffers, strict=True):
            for slot in self._lengths:
                after[slot, :, : before.shape[2]] = before[slot]


class PrefixCache:
    """Prefixes by voice; the least recently used ones go when there is no room."""

    def __init__(self, budget: int = PREFIX_BUDGET_BYTES) -> None:
        self._budget = budget
        self._kept: OrderedDict[bytes, Prefix] = OrderedDict()

    def get(self, key: bytes) -> Prefix | None:
        """Return a prefix and note its use."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: bytes, prefix: Prefix) -> None:
        """Keep a prefix, if it fits at all."""
        self._kept[key] = prefix
        while self.nbytes > self._budget:
            self._kept.popitem(last=False)

    @property
    def nbytes(self) -> int:
        """What is kept."""
        return sum(prefix.nbytes for prefix in self._kept.values())


@dataclass
class CompiledReading:
    """A piece: its rows, and the slot they are in once they are read."""

    reference: Codes
    text: Rows
    slot: int | None = None


class CompiledTransformer:
    """One graph for prompts and for rows."""

    def __init__(self, bundle: Bundle, graphs: CompiledSessions) -> None:
        self._graphs = graphs
        self._layout = PromptLayout.of(bundle)
        self._hidden_size = bundle.config.hidden_size
        self._memory = KeyValues(bundle)
        self._prefixes = PrefixCache()

    def open(self, reference: Codes, text_ids: list[int]) -> CompiledReading:
        """See Transformer.open."""
        return CompiledReading(reference, self._layout.speech_rows(text_ids))

    def read(self, steps: Sequence[tuple[CompiledReading, Codes | None]]) -> FloatArray:
        """See Transformer.read."""
        hidden = np.empty((len(steps), self._hidden_size), dtype=np.float32)
        rows = {}
        for place, (reading, frame) in enumerate(steps):
            if frame is None:
                hidden[place] = self._read_prompt(reading)
            else:
                rows[place] = self._layout.frame_row(frame)
        if rows:
            slots = [steps[place][0].slot or 0 for place in rows]
            hidden[list(rows)] = self._read_together(slots, list(rows.values()))
        return hidden

    def close(self, reading: CompiledReading) -> None:
        """See Transformer.close."""
        if reading.slot is not None:
            self._memory.release(reading.slot)
            reading.slot = None

    def _read_prompt(self, reading: CompiledReading) -> FloatArray:
        slot = reading.slot = self._memory.take()
        key = hashlib.sha256(np.ascontiguousarray(reading.reference).data).digest()
        prefix = self._prefixes.get(key)
        if prefix is None:
            self._read_rows(slot, self._layout.voice_rows(reading.reference))
            self._prefixes.put(key, self._memory.copy_out(slot))
        else:
            self._memory.copy_in(slot, prefix)
        return self._read_rows(slot, reading.text)

    def _read_rows(self, slot: int, rows: Rows) -> FloatArray:
        hidden = self._run(rows[np.newaxis], slot)
        self._memory.extend(slot, len(rows))
        last: FloatArray = hidden[0]
        return last

    def _read_together(self, slots: list[int], rows: list[Rows]) -> FloatArray:
        """Read one row of each of several slots in one call."""
        first = min(slots)
        # a slot between them gets a row after its last, which its own next one replaces
        batch = np.repeat(self._layout.padding()[np.newaxis], max(slots) - first + 1, axis=0)
        for slot, row in zip(slots, rows, strict=True):
            batch[slot - first] = row
        hidden = self._run(batch, first)
        for slot in slots:
            self._memory.extend(slot, 1)
        together: FloatArray = hidden[[slot - first for slot in slots]]
        return together

    def _run(self, rows: Rows, first: int) -> FloatArray:
        """Read rows [slots, rows, row width] into as many slots from ``first`` on."""
        last = first + len(rows) - 1
        lengths = [self._memory.length(slot) for slot in range(first, last + 1)]
        longest = max(lengths) + rows.shape[1]
        if longest > MOST_ROWS:
            raise SpeechError(
                f"voice, text and sound of one piece are longer than the {MOST_ROWS} rows that "
                "compiled graphs have room for; use a shorter text or --precision exact"
            )
        self._memory.reserve(longest)
        hidden = np.empty((len(rows), self._hidden_size), dtype=np.float32)
        self._graphs.language.run_into(
            {
                "input_ids": rows,
                "lengths": np.array(lengths, dtype=np.int32) + np.int32(rows.shape[1] - 1),
                "longest": np.array([longest], dtype=np.int32),
                **self._memory.ports("past", first, last),
            },
            {"global_hidden": hidden, **self._memory.ports("present", first, last)},
        )
        return hidden


class CompiledSamplers:
    """The samplers of compiled graphs; in full mode the host chooses, by the published graph."""

    def __init__(self, published: FrameSamplers, graphs: CompiledSessions) -> None:
        self._published = published
        self._graphs = graphs
        self._made: dict[str, FrameSampler] = {}

    def sampler(self, mode: str) -> FrameSampler:
        """See FrameSamplers.sampler."""
        if mode not in self._made:
            self._made[mode] = self._make(mode)
        return self._made[mode]

    def _make(self, mode: str) -> FrameSampler:
        if mode == "fixed":
            return SampledTogether(self._graphs.sampled)
        if mode == "greedy":
            return GreedyTogether(self._graphs.greedy)
        return self._published.sampler(mode)
