"""A bundle's language model as three graphs of our own and one data file."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from ..bundle import Bundle
from ..compiled import GREEDY_FILE, LANGUAGE_FILE, SAMPLED_FILE, WEIGHTS_FILE
from ..graph_writer import GraphWriter
from .arithmetic import Arithmetic, Float32, Int8
from .audio_table import AudioTable
from .frame_graphs import add_greedy_frame, add_sampled_frame
from .global_graph import add_global
from .processor import activation_levels
from .reader import read_global, read_local
from .weights_file import WeightsFile

_PRODUCER: Final = "wyoming-moss-nano"

_MakeArithmetic = Callable[[GraphWriter, WeightsFile], Arithmetic]


def compile_graphs(bundle: Bundle, precision: str, folder: Path) -> None:
    """Write the compiled graphs of a bundle into an empty folder.

    Args:
        bundle: whose published graphs are read and not changed.
        precision: one of COMPILED_PRECISIONS.
        folder: where the files go.

    Raises:
        CannotCompileError: a published graph is not built as the compiler knows it.
        OSError: a file cannot be written.
    """
    arithmetic = _arithmetic(precision)
    weights, local = read_global(bundle), read_local(bundle)
    audio = AudioTable(weights.audio_embeddings)
    with WeightsFile(folder / WEIGHTS_FILE) as file:
        graph = GraphWriter("language")
        add_global(arithmetic(graph, file), weights, audio, bundle.config)
        graph.save(folder / LANGUAGE_FILE, _PRODUCER)
        for name, add_frame in ((SAMPLED_FILE, add_sampled_frame), (GREEDY_FILE, add_greedy_frame)):
            graph = GraphWriter("frame")
            add_frame(arithmetic(graph, file), local, audio, bundle)
            graph.save(folder / name, _PRODUCER)


def _arithmetic(precision: str) -> _MakeArithmetic:
    return Float32 if precision == "fp32" else partial(Int8, levels=activation_levels())
