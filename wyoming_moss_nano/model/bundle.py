"""A model bundle on disk: where its files are, what its metadata says, and whether both agree.

Layout and metadata are those of the published MOSS-TTS-Nano ONNX bundle; the embedded bundle and
random ones follow the same contract, so nothing above this module can tell them apart.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..errors import BundleError
from .contract import GraphContract, check_graph, codec_contracts, tts_contracts
from .digests import DigestStore
from .graph_file import read_graph_file
from .json_object import JsonObject
from .manifest import PINNED_FILES
from .metadata import (
    BundleRules,
    CodecConfig,
    ModelConfig,
    PromptTemplates,
    SamplingDefaults,
    TokenIds,
    read_builtin_voices,
    read_codec_config,
    read_frame_sampling,
    read_model_config,
    read_rules,
    read_sampling,
    read_templates,
    read_token_ids,
)

MANIFEST_NAME: Final = "browser_poc_manifest.json"

# Where the publisher's runtime looks for the manifest, in its order, and the folder names that
# older exports used, each with the name that took its place.
MANIFEST_FOLDERS: Final = (".", "MOSS-TTS-Nano-100M-ONNX", "MOSS-TTS-Nano-ONNX-CPU")
LEGACY_FOLDERS: Final = {
    "MOSS-TTS-Nano-ONNX-CPU": "MOSS-TTS-Nano-100M-ONNX",
    "MOSS-Audio-Tokenizer-Nano-ONNX-CPU": "MOSS-Audio-Tokenizer-Nano-ONNX",
}

# Lists of port names that metadata may carry: (graph, side) by key.
_TTS_NAME_LISTS: Final = {
    "prefill_output_names": ("prefill", "outputs"),
    "decode_input_names": ("decode_step", "inputs"),
    "decode_output_names": ("decode_step", "outputs"),
    "local_cached_input_names": ("local_cached_step", "inputs"),
    "local_cached_output_names": ("local_cached_step", "outputs"),
    "local_fixed_sampled_frame_input_names": ("local_fixed_sampled_frame", "inputs"),
    "local_fixed_sampled_frame_output_names": ("local_fixed_sampled_frame", "outputs"),
}
_CODEC_NAME_LISTS: Final = {
    "encode_input_names": ("encode", "inputs"),
    "encode_output_names": ("encode", "outputs"),
    "decode_input_names": ("decode_full", "inputs"),
    "decode_output_names": ("decode_full", "outputs"),
    "decode_step_input_names": ("decode_step", "inputs"),
    "decode_step_output_names": ("decode_step", "outputs"),
}

_ID_DIGITS: Final = 16  # of a codec_id or bundle_id: 64 bits tell any two bundles apart


@dataclass(frozen=True)
class GraphSet:
    """The graphs of one folder by metadata name, and the data files each one reads."""

    paths: Mapping[str, Path]
    data: Mapping[str, tuple[Path, ...]]

    def files(self, names: Iterable[str] | None = None) -> list[Path]:
        """Return graphs and data files of the named graphs (default: all), each once, sorted."""
        wanted = list(self.paths if names is None else names)
        found = {self.paths[name] for name in wanted}
        found.update(path for name in wanted for path in self.data[name])
        return sorted(found, key=lambda path: path.name)


@dataclass(frozen=True)
class Bundle:
    """A checked bundle. ``builtin_voices`` holds codes [frames, n_vq] of voices it may offer."""

    directory: Path
    config: ModelConfig
    ids: TokenIds
    templates: PromptTemplates
    sampling: SamplingDefaults
    frame_sampling: SamplingDefaults
    codec: CodecConfig
    rules: BundleRules
    tts_graphs: GraphSet
    codec_graphs: GraphSet
    tokenizer: Path
    builtin_voices: Mapping[str, NDArray[np.int32]]
    codec_id: str
    bundle_id: str


def read_bundle(directory: Path, digests: DigestStore | None = None) -> Bundle:
    """Read and check the bundle below ``directory``.

    Loads no weights; hashes the files once where ``digests`` does not know them yet.

    Raises:
        BundleError: one line that names the first thing wrong: a file that is missing or cut off,
            a key, a name, a type or a shape.
    """
    manifest_path = _find_manifest(directory)
    manifest = JsonObject.read(manifest_path)
    model_files = manifest.object("model_files")
    tts_path = _resolve(manifest_path.parent, model_files.text("tts_meta"))
    codec_path = _resolve(manifest_path.parent, model_files.text("codec_meta"))
    tts_meta, codec_meta = JsonObject.read(tts_path), JsonObject.read(codec_path)

    config = read_model_config(tts_meta)
    codec = read_codec_config(codec_meta)
    ids = read_token_ids(manifest, config)
    _check_agreement(tts_meta.object("model_config"), manifest.object("tts_config"))
    if codec.quantizers != config.n_vq:
        raise BundleError(
            f"{codec_path}: {codec.quantizers} quantizers, but the model's n_vq is {config.n_vq}"
        )
    tts_contract, codec_contract = tts_contracts(config), codec_contracts(codec)
    _check_name_lists(tts_meta, _TTS_NAME_LISTS, tts_contract)
    _check_name_lists(codec_meta, _CODEC_NAME_LISTS, codec_contract)
    tts_graphs = _read_graphs(tts_meta, tts_path.parent, tts_contract)
    codec_graphs = _read_graphs(codec_meta, codec_path.parent, codec_contract)
    tokenizer = _resolve(manifest_path.parent, model_files.text("tokenizer_model"))
    if not tokenizer.is_file():
        raise BundleError(f"{tokenizer} is missing")

    rules = read_rules(manifest)
    known = _pinned_digests(directory) if "moss_nano" not in manifest else {}
    name_digests = _Digests(known, digests or DigestStore())
    return Bundle(
        directory=directory,
        config=config,
        ids=ids,
        templates=read_templates(manifest, config),
        sampling=read_sampling(manifest),
        frame_sampling=read_frame_sampling(tts_meta, manifest),
        codec=codec,
        rules=rules,
        tts_graphs=tts_graphs,
        codec_graphs=codec_graphs,
        tokenizer=tokenizer,
        builtin_voices=read_builtin_voices(manifest, rules, config),
        codec_id=name_digests.identity(codec_graphs.files(["encode"])),
        bundle_id=name_digests.identity([*tts_graphs.files(), *codec_graphs.files(), tokenizer]),
    )


def missing_official_files(directory: Path) -> list[str]:
    """Return the official files below ``directory`` that are absent or not of the pinned size."""
    missing = []
    for pinned in PINNED_FILES:
        path = directory / pinned.directory / pinned.file
        if not path.is_file() or path.stat().st_size != pinned.bytes:
            missing.append(f"{pinned.directory}/{pinned.file}")
    return missing


def official_codec_id() -> str:
    """Return the codec_id of the official model, which need not be there."""
    encoder = [
        pinned for pinned in PINNED_FILES if pinned.file.startswith("moss_audio_tokenizer_encode.")
    ]
    return _identity(pinned.digest for pinned in sorted(encoder, key=lambda pinned: pinned.file))


def _identity(digests: Iterable[str]) -> str:
    return hashlib.sha256("".join(digests).encode("ascii")).hexdigest()[:_ID_DIGITS]


@dataclass(frozen=True)
class _Digests:
    """Digests of files: the pinned ones where the official files lie, else computed."""

    pinned: Mapping[Path, str]
    store: DigestStore

    def identity(self, files: Iterable[Path]) -> str:
        return _identity(
            self.pinned.get(path.resolve()) or self.store.sha256(path) for path in files
        )


def _pinned_digests(directory: Path) -> dict[Path, str]:
    if missing_official_files(directory):
        return {}
    return {
        (directory / pinned.directory / pinned.file).resolve(): pinned.digest
        for pinned in PINNED_FILES
        if pinned.algorithm == "sha256"
    }


def _find_manifest(directory: Path) -> Path:
    for folder in MANIFEST_FOLDERS:
        path = directory / folder / MANIFEST_NAME
        if path.is_file():
            return path
    if not directory.is_dir():
        raise BundleError(f"{directory} is no folder: name the folder that holds the model")
    raise BundleError(f"{directory} holds no model: {MANIFEST_NAME} is neither in it nor below it")


def _resolve(folder: Path, written: str) -> Path:
    """Resolve a path of the metadata, which an export on Windows may write with backslashes."""
    parts = PurePosixPath(written.replace("\\", "/")).parts
    path = folder.joinpath(*parts)
    if not path.exists() and not LEGACY_FOLDERS.keys().isdisjoint(parts):
        path = folder.joinpath(*(LEGACY_FOLDERS.get(part, part) for part in parts))
    return path.resolve()


def _check_agreement(model_config: JsonObject, tts_config: JsonObject) -> None:
    for key in ("n_vq", "vocab_size", "audio_codebook_sizes"):
        if key in tts_config and key in model_config:
            read = JsonObject.integers if key.endswith("sizes") else JsonObject.integer
            here, there = read(tts_config, key), read(model_config, key)
            if here != there:
                raise BundleError(
                    f"{tts_config.where}: {key} is {here}, but {model_config.where} says {there}"
                )


def _check_name_lists(
    meta: JsonObject,
    lists: Mapping[str, tuple[str, str]],
    contracts: Mapping[str, GraphContract],
) -> None:
    if "onnx" not in meta:
        return
    onnx = meta.object("onnx")
    for key, (graph, side) in lists.items():
        if key not in onnx:
            continue
        written = onnx.texts(key)
        derived = {port.name for port in getattr(contracts[graph], side)}
        for name in sorted(derived.symmetric_difference(written)):
            relation = "lacks" if name in derived else "names an unknown"
            raise BundleError(f"{onnx.where}: {key} {relation} {name}")


def _read_graphs(
    meta: JsonObject, folder: Path, contracts: Mapping[str, GraphContract]
) -> GraphSet:
    files = meta.object("files")
    declared = meta.object("external_data_files") if "external_data_files" in meta else None
    paths: dict[str, Path] = {}
    data: dict[str, tuple[Path, ...]] = {}
    for name, contract in contracts.items():
        path = _resolve(folder, files.text(name))
        graph = read_graph_file(path)
        check_graph(graph, contract)
        if declared is not None and path.name in declared:
            for location in declared.texts(path.name):
                _check_data(path.parent / location, 0)
        for location, needed in graph.external_bytes.items():
            _check_data(path.parent / location, needed)
        paths[name] = path
        data[name] = tuple(path.parent / location for location in sorted(graph.external_bytes))
    return GraphSet(paths, data)


def _check_data(path: Path, needed: int) -> None:
    if not path.is_file():
        raise BundleError(f"{path} is missing")
    found = path.stat().st_size
    if found < needed:
        raise BundleError(f"{path} is cut off: {found} bytes, but its graphs read {needed}")
