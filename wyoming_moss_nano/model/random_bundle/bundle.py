"""Builds a bundle on disk."""

from collections.abc import Callable, Mapping
from pathlib import Path

from .codec_graphs import add_decode_full, add_decode_step, add_encode
from .codec_tensors import decode_tensors, encode_tensors
from .filling import RandomFilling
from .frame_graph import add_local_fixed_sampled_frame
from .global_graphs import add_decode_step as add_global_step
from .global_graphs import add_prefill
from .habits import PLAIN, GraphHabits
from .local_graphs import add_local_cached_step, add_local_decoder
from .manifest import bundle_manifest
from .metadata import (
    CODEC_FILES,
    DECODE_DATA,
    ENCODE_DATA,
    GLOBAL_DATA,
    LOCAL_DATA,
    TTS_FILES,
    codec_metadata,
    tts_metadata,
    write_json,
)
from .nodes import Graph
from .size import TINY, BundleSize
from .stopping import StoppingFilling
from .tensors import Tensor, global_tensors, local_tensors
from .tokenizer import tokenizer_model
from .weights import Filling, WeightFile

TTS_DIRECTORY = "MOSS-TTS-Nano-100M-ONNX"
CODEC_DIRECTORY = "MOSS-Audio-Tokenizer-Nano-ONNX"

_TTS_README = """# Random language model

Random weights in the layout of MOSS-TTS-Nano-100M-ONNX. It is made by wyoming-moss-nano for
tests and benchmarks and speaks no language.
"""
_CODEC_README = """# Random audio tokenizer

Random weights in the layout of MOSS-Audio-Tokenizer-Nano-ONNX. It is made by wyoming-moss-nano
for tests and benchmarks; what it decodes is noise.
"""

_AddNodes = Callable[[Graph, BundleSize], None]


def build_random_bundle(
    directory: Path, size: BundleSize = TINY, *, seed: int = 0, habits: GraphHabits = PLAIN
) -> Path:
    """Write a bundle.

    Args:
        directory: Where its two folders go; made when missing.
        size: Its dimensions.
        seed: Decides weights and voices; equal seeds give equal files.
        habits: How the graphs call and reach their weights.

    Returns:
        The directory.

    Raises:
        OSError: If a file cannot be written.
        ValueError: If the size is too small for what it asks for.
    """
    filling: Filling = RandomFilling(size, seed)
    if size.frames_per_token is not None:
        filling = StoppingFilling(size, seed)
    _build_tts(directory / TTS_DIRECTORY, size, seed, filling, habits)
    _build_codec(directory / CODEC_DIRECTORY, size, filling, habits)
    return directory


def _build_tts(
    folder: Path, size: BundleSize, seed: int, filling: Filling, habits: GraphHabits
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text(_TTS_README, encoding="utf-8", newline="\n")
    tokenizer = tokenizer_model(size.vocabulary)
    (folder / "tokenizer.model").write_bytes(tokenizer)
    write_json(folder / "tts_browser_onnx_meta.json", tts_metadata(size))
    write_json(folder / "browser_poc_manifest.json", bundle_manifest(size, tokenizer, seed))
    builder = _GraphBuilder(folder, size, filling, habits)
    builder.build(
        GLOBAL_DATA,
        global_tensors(size),
        {
            TTS_FILES["prefill"]: add_prefill,
            TTS_FILES["decode_step"]: add_global_step,
        },
        prefix="core.model.",
    )
    builder.build(
        LOCAL_DATA,
        local_tensors(size),
        {
            TTS_FILES["local_decoder"]: add_local_decoder,
            TTS_FILES["local_cached_step"]: add_local_cached_step,
            TTS_FILES["local_fixed_sampled_frame"]: add_local_fixed_sampled_frame,
        },
        prefix="model.",
    )


def _build_codec(folder: Path, size: BundleSize, filling: Filling, habits: GraphHabits) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text(_CODEC_README, encoding="utf-8", newline="\n")
    write_json(folder / "codec_browser_onnx_meta.json", codec_metadata(size))
    builder = _GraphBuilder(folder, size, filling, habits)
    encode = {CODEC_FILES["encode"]: add_encode}
    builder.build(ENCODE_DATA, encode_tensors(size), encode, prefix="model.")
    decode = {
        CODEC_FILES["decode_full"]: add_decode_full,
        CODEC_FILES["decode_step"]: add_decode_step,
    }
    builder.build(DECODE_DATA, decode_tensors(size), decode, prefix="model.")


class _GraphBuilder:
    def __init__(
        self, folder: Path, size: BundleSize, filling: Filling, habits: GraphHabits
    ) -> None:
        self._folder = folder
        self._size = size
        self._filling = filling
        self._habits = habits

    def build(
        self, data: str, tensors: list[Tensor], graphs: Mapping[str, _AddNodes], prefix: str
    ) -> None:
        """Write one data file and the graphs that share it."""
        weights = WeightFile(self._folder / data, tensors, self._filling)
        for file, add_nodes in graphs.items():
            graph = Graph("main_graph", weights, self._habits.namer(prefix))
            add_nodes(graph, self._size)
            graph.save(self._folder / file, "random_bundle")
