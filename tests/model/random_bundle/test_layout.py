import hashlib
import json
from dataclasses import replace

import onnx
import pytest

from wyoming_moss_nano.model.manifest import PINNED_FILES
from wyoming_moss_nano.model.random_bundle import OFFICIAL, TINY, build_random_bundle
from wyoming_moss_nano.model.random_bundle.codec_tensors import decode_tensors, encode_tensors
from wyoming_moss_nano.model.random_bundle.metadata import (
    codec_metadata,
    tts_metadata,
    write_json,
)
from wyoming_moss_nano.model.random_bundle.tensors import global_tensors, local_tensors
from wyoming_moss_nano.model.random_bundle.weights import EXTERNAL_BYTES, data_bytes

METADATA_BLOBS = [
    (tts_metadata, "883597607ce139b2c4871468396af2c088ed2fe0"),
    (codec_metadata, "886953a56489516b847b7c1c953bde063eb78faa"),
]


def files(directory):
    return {path.relative_to(directory): path for path in directory.rglob("*") if path.is_file()}


def digests(directory):
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files(directory).items()
    }


def test_a_bundle_has_the_published_eighteen_files_and_is_small(tiny):
    found = files(tiny.directory)
    assert {(name.parent.name, name.name) for name in found} == {
        (file.directory, file.file) for file in PINNED_FILES
    }
    assert sum(path.stat().st_size for path in found.values()) < 3_000_000


def test_the_seed_alone_decides_every_byte(tiny, tmp_path):
    again = build_random_bundle(tmp_path / "again")
    other = build_random_bundle(tmp_path / "other", seed=1)
    assert digests(again) == digests(tiny.directory)
    changed = {
        name.suffix for name, digest in digests(other).items() if digests(again)[name] != digest
    }
    assert changed == {".data", ".json", ".onnx"}


@pytest.mark.parametrize(("content", "blob"), METADATA_BLOBS)
def test_the_official_metadata_is_the_published_one_byte_for_byte(content, blob, tmp_path):
    path = tmp_path / "meta.json"
    write_json(path, content(OFFICIAL))
    data = path.read_bytes()
    assert hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() == blob  # noqa: S324


@pytest.mark.parametrize(
    ("tensors", "size"),
    [
        (global_tensors, 440_813_568),
        (local_tensors, 229_678_080),
        (decode_tensors, 44_198_912),
        # The published file has 47,104 bytes that nobody has explained.
        (encode_tensors, 44_507_136 - 47_104),
    ],
)
def test_the_official_weights_have_the_published_sizes(tensors, size):
    assert data_bytes(tensors(OFFICIAL)) == size


@pytest.mark.parametrize(
    ("file", "tensors"),
    [
        ("moss_tts_global_shared.data", global_tensors),
        ("moss_tts_local_shared.data", local_tensors),
        ("moss_audio_tokenizer_encode.data", encode_tensors),
        ("moss_audio_tokenizer_decode_shared.data", decode_tensors),
    ],
)
def test_the_arithmetic_of_sizes_is_that_of_the_writer(tmp_path_factory, file, tensors):
    # Norms of 64 floats stay inline at the tiny size; these are wide enough to be merged.
    size = replace(TINY, hidden=256, codec_width=256)
    directory = build_random_bundle(tmp_path_factory.mktemp("wide"), size)
    (path,) = directory.rglob(file)
    assert path.stat().st_size == data_bytes(tensors(size))


def test_json_is_written_as_on_windows(tiny):
    for path in tiny.directory.rglob("*.json"):
        data = path.read_bytes()
        assert data.count(b"\n") == data.count(b"\r\n") > 0
        assert data.endswith(b"}")
        json.loads(data)


def test_large_tensors_are_external_and_small_ones_inline(tiny):
    for _, path in tiny.graphs():
        for tensor in onnx.load(path, load_external_data=False).graph.initializer:
            count = 1
            for length in tensor.dims:
                count *= length
            external = tensor.data_location == onnx.TensorProto.EXTERNAL
            assert external == (4 * count >= EXTERNAL_BYTES)
            if external:
                place = {entry.key: entry.value for entry in tensor.external_data}
                assert int(place["length"]) == 4 * count
                assert (path.parent / place["location"]).parent == path.parent


def test_the_manifest_names_what_it_offers(tiny):
    assert list(tiny.manifest) == [
        "format_version",
        "model_files",
        "tts_config",
        "prompt_templates",
        "generation_defaults",
        "builtin_voices",
        "text_samples",
        "moss_nano",
    ]
    assert tiny.manifest["moss_nano"] == {
        "kind": "random",
        "languages": ["en"],
        "offer_builtin_voices": True,
        "prefix_reuse": True,
        "max_text_tokens": 75,
        "cap": {"base": 12, "per_token": 6},
    }
    for file in tiny.manifest["model_files"].values():
        assert (tiny.tts / file).is_file()
    for name, value in tiny.manifest["tts_config"].items():
        assert tiny.config[name] == value
    for voice in tiny.manifest["builtin_voices"]:
        frames = voice["prompt_audio_codes"]
        assert 20 <= len(frames) <= 60
        assert all(len(frame) == 16 and 0 <= min(frame) <= max(frame) < 64 for frame in frames)
    for sample in tiny.manifest["text_samples"]:
        assert sample["text_token_ids"] == tiny.tokenizer.encode(sample["text"])


@pytest.mark.parametrize("change", [{"global_layers": 1}, {"hidden": 24}, {"vocabulary": 300}])
def test_a_size_without_room_is_refused(tmp_path, change):
    with pytest.raises(ValueError, match=r"needs two global layers|no room for the letters"):
        build_random_bundle(tmp_path, replace(TINY, **change))
