"""A bundle is read as anybody may have copied or exported it, and says what is wrong with it."""

import json
import shutil
from pathlib import Path

import pytest

from wyoming_moss_nano.embedded import BUNDLE_FOLDER
from wyoming_moss_nano.errors import BundleError
from wyoming_moss_nano.model import bundle as bundle_module
from wyoming_moss_nano.model.bundle import read_bundle
from wyoming_moss_nano.model.digests import DigestStore
from wyoming_moss_nano.model.manifest import PinnedFile
from wyoming_moss_nano.model.metadata import OFFICIAL_RULES

TTS = "MOSS-TTS-Nano-100M-ONNX"
CODEC = "MOSS-Audio-Tokenizer-Nano-ONNX"
MANIFEST = f"{TTS}/browser_poc_manifest.json"
TTS_META = f"{TTS}/tts_browser_onnx_meta.json"
CODEC_META = f"{CODEC}/codec_browser_onnx_meta.json"


@pytest.fixture
def folder(tiny_folder, tmp_path):
    """A copy of the tiny bundle to spoil."""
    return shutil.copytree(tiny_folder, tmp_path / "bundle")


def edit(path, change):
    """Change a JSON file and write it as the publisher does, with CRLF line ends."""
    values = json.loads(path.read_bytes())
    change(values)
    path.write_bytes(json.dumps(values, indent=2).replace("\n", "\r\n").encode())


def complaint(folder):
    with pytest.raises(BundleError) as caught:
        read_bundle(folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_ids_sizes_and_templates_come_from_the_files(embedded_bundle, tiny_bundle):
    assert embedded_bundle.config.hidden_size == 192
    assert embedded_bundle.ids.audio_assistant_slot == 8
    assert embedded_bundle.templates.assistant == (4, 3)
    assert embedded_bundle.sampling.audio_repetition_penalty == 1.0
    assert tiny_bundle.ids.audio_assistant_slot == 9
    assert tiny_bundle.sampling.audio_repetition_penalty == 1.2


def test_the_manifest_is_found_in_the_folder_or_in_the_folders_it_is_published_in(folder):
    assert read_bundle(folder).bundle_id == read_bundle(folder / TTS).bundle_id


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_metadata_may_have_any_line_ends(folder, line_end):
    for name in (MANIFEST, TTS_META, CODEC_META):
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8", newline=line_end)

    assert read_bundle(folder).config.n_vq == 16


def test_legacy_folder_names_in_paths_lead_to_the_folders_that_took_their_place(folder):
    def old_name(manifest):
        files = manifest["model_files"]
        files["codec_meta"] = files["codec_meta"].replace(
            CODEC, "MOSS-Audio-Tokenizer-Nano-ONNX-CPU"
        )

    edit(folder / MANIFEST, old_name)

    assert read_bundle(folder).codec.sample_rate == 48000


def test_a_legacy_folder_that_exists_is_used(folder):
    (folder / TTS).rename(folder / "MOSS-TTS-Nano-ONNX-CPU")

    assert read_bundle(folder).config.n_vq == 16


def test_paths_written_on_windows_are_understood(folder):
    def backslashes(manifest):
        files = manifest["model_files"]
        files["codec_meta"] = files["codec_meta"].replace("/", "\\")

    edit(folder / MANIFEST, backslashes)

    assert read_bundle(folder).codec.sample_rate == 48000


def test_numbers_may_be_int_or_float(folder):
    def floats(meta):
        meta["model_config"]["hidden_size"] = float(meta["model_config"]["hidden_size"])
        meta["model_config"]["n_vq"] = 16.0

    def ints(manifest):
        manifest["generation_defaults"]["text_temperature"] = 1

    edit(folder / TTS_META, floats)
    edit(folder / MANIFEST, ints)

    assert read_bundle(folder).config.n_vq == 16


def test_keys_that_only_describe_may_be_absent(folder):
    def bare(values):
        for key in ("format_version", "checkpoint_path", "onnx", "text_samples"):
            values.pop(key, None)

    for name in (MANIFEST, TTS_META, CODEC_META):
        edit(folder / name, bare)

    assert read_bundle(folder).config.n_vq == 16


def test_without_external_data_files_the_graphs_tell(folder):
    edit(folder / TTS_META, lambda meta: meta.pop("external_data_files"))
    assert read_bundle(folder).tts_graphs.data["prefill"][0].name == "moss_tts_global_shared.data"

    (folder / TTS / "moss_tts_global_shared.data").unlink()
    assert complaint(folder).endswith("moss_tts_global_shared.data is missing")


def test_a_codec_batch_of_one_and_symbolic_channels_pass(embedded_bundle):
    assert embedded_bundle.codec.channels == 2


def test_a_tokenizer_may_have_fewer_pieces_than_the_vocabulary(embedded_bundle, embedded_engine):
    assert embedded_bundle.config.vocab_size == 48
    assert embedded_engine.pieces("ok")


def official_files():
    return [
        path.relative_to(BUNDLE_FOLDER).as_posix()
        for path in sorted(BUNDLE_FOLDER.glob("MOSS-*/*"))
    ]


@pytest.mark.parametrize("name", official_files())
def test_each_missing_file_is_named(tmp_path, name):
    folder = shutil.copytree(BUNDLE_FOLDER, tmp_path / "bundle")
    (folder / name).unlink()

    assert Path(name).name in complaint(folder)


@pytest.mark.parametrize("name", [n for n in official_files() if n.endswith((".onnx", ".json"))])
@pytest.mark.parametrize("kept", [0, 0.3, 0.99])
def test_each_file_that_is_cut_off_is_named(tmp_path, name, kept):
    folder = shutil.copytree(BUNDLE_FOLDER, tmp_path / "bundle")
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int(kept * len(content))])

    message = complaint(folder)
    assert Path(name).name in message
    assert "cut off or damaged" in message


def test_data_that_is_cut_off_is_named_with_both_sizes(folder):
    data = folder / TTS / "moss_tts_local_shared.data"
    size = data.stat().st_size
    data.write_bytes(data.read_bytes()[:-1])

    message = complaint(folder)
    assert "moss_tts_local_shared.data is cut off" in message
    assert f"{size - 1} bytes" in message
    assert f"read {size}" in message


@pytest.mark.parametrize(
    ("file", "key", "value", "expected"),
    [
        (TTS_META, "hidden_size", 999, "has shape"),
        (TTS_META, "global_heads", 3, "has shape"),
        (TTS_META, "global_layers", 9, "lacks"),
        (TTS_META, "local_head_dim", 5, "has shape"),
        (TTS_META, "vocab_size", 20, "but"),
        (TTS_META, "n_vq", 15, "audio_codebook_sizes has 16"),
        (TTS_META, "n_vq", 16.5, "whole number"),
        (TTS_META, "n_vq", "16", "whole number"),
        (TTS_META, "n_vq", True, "whole number"),
        (TTS_META, "row_width", 16, "row_width"),
        (CODEC_META, "num_quantizers", 8, "num_quantizers"),
        (CODEC_META, "channels", 1, "has shape"),
        (CODEC_META, "sample_rate", 0, "above 0"),
        (MANIFEST, "vocab_size", 17, "but"),
        (MANIFEST, "audio_pad_token_id", 1, "also a code"),
        (MANIFEST, "audio_end_token_id", 100_000, "outside the vocabulary"),
        (MANIFEST, "audio_temperature", 0, "above 0"),
        (MANIFEST, "audio_top_p", "high", "a number"),
        (MANIFEST, "user_prompt_prefix_token_ids", [1, 99_999], "outside the vocabulary"),
        (MANIFEST, "user_prompt_prefix_token_ids", 7, "list"),
        (MANIFEST, "max_text_tokens", 0, "a text token"),
        (MANIFEST, "kind", "official", "kind"),
        (MANIFEST, "prompt_audio_codes", [[1, 2]], "frames of 16"),
        (MANIFEST, "prompt_audio_codes", [[4096] * 16], "outside its codebook"),
        (MANIFEST, "prompt_audio_codes", [[0.5] * 16], "whole numbers"),
        (MANIFEST, "prompt_audio_codes", [[1], [1, 2]], "differ in width"),
    ],
)
def test_a_value_that_cannot_be_is_named(folder, file, key, value, expected):
    changed = []

    def replace(values):
        if isinstance(values, dict):
            for inner in list(values):
                if inner == key:
                    values[inner] = value
                    changed.append(key)
                else:
                    replace(values[inner])
        elif isinstance(values, list):
            for inner in values:
                replace(inner)

    edit(folder / file, replace)
    if key == "num_quantizers":
        expected = "quantizers"

    assert changed
    assert expected in complaint(folder)


@pytest.mark.parametrize(
    ("file", "section", "key"),
    [
        (MANIFEST, "model_files", "tts_meta"),
        (MANIFEST, "tts_config", "audio_end_token_id"),
        (MANIFEST, "prompt_templates", "assistant_prompt_prefix_token_ids"),
        (MANIFEST, "generation_defaults", "audio_top_k"),
        (MANIFEST, "moss_nano", "cap"),
        (TTS_META, "model_config", "head_dim"),
        (TTS_META, "files", "prefill"),
        (CODEC_META, "codec_config", "sample_rate"),
        (CODEC_META, "streaming_decode", "attention_caches"),
    ],
)
def test_a_missing_key_is_named_with_its_file(folder, file, section, key):
    edit(folder / file, lambda values: values[section].pop(key))

    message = complaint(folder)
    assert f"lacks {key}" in message
    assert Path(file).name in message


def test_a_graph_in_the_place_of_another_is_noticed(folder):
    shutil.copy(folder / TTS / "moss_tts_prefill.onnx", folder / TTS / "moss_tts_decode_step.onnx")

    assert "has no input past_valid_lengths" in complaint(folder)


def test_a_state_tensor_of_another_name_is_noticed(folder):
    def rename(meta):
        meta.pop("onnx")
        meta["streaming_decode"]["attention_caches"][0]["cached_keys_input_name"] = "keys"

    edit(folder / CODEC_META, rename)

    assert "has no input keys" in complaint(folder)


def test_a_folder_without_a_model_says_what_was_looked_for(tmp_path):
    assert "browser_poc_manifest.json" in complaint(tmp_path)
    assert "is no folder" in complaint(tmp_path / "nowhere")


def test_a_bundle_without_marker_follows_the_official_rules(folder):
    edit(folder / MANIFEST, lambda manifest: manifest.pop("moss_nano"))

    bundle = read_bundle(folder)
    assert bundle.rules == OFFICIAL_RULES
    assert bundle.rules.max_text_tokens == 75
    assert bundle.rules.prefix_reuse


def test_built_in_voices_of_a_bundle_without_marker_are_not_even_read(folder):
    def spoil(manifest):
        manifest.pop("moss_nano")
        manifest["builtin_voices"] = "never looked at"

    edit(folder / MANIFEST, spoil)

    assert read_bundle(folder).builtin_voices == {}


def test_the_embedded_bundle_offers_its_own_voices_under_lower_case_names(embedded_bundle):
    assert list(embedded_bundle.builtin_voices) == ["robin", "max", "otto", "fay", "ivy"]


def test_ids_follow_the_files_and_nothing_else(folder, tmp_path):
    before = read_bundle(folder)
    elsewhere = read_bundle(shutil.copytree(folder, tmp_path / "elsewhere"))
    assert (elsewhere.codec_id, elsewhere.bundle_id) == (before.codec_id, before.bundle_id)
    assert len(before.codec_id) == len(before.bundle_id) == 16

    data = folder / TTS / "moss_tts_local_shared.data"
    data.write_bytes(bytes(data.stat().st_size))
    after = read_bundle(folder)
    assert after.codec_id == before.codec_id
    assert after.bundle_id != before.bundle_id

    encoder = folder / CODEC / "moss_audio_tokenizer_encode.data"
    encoder.write_bytes(bytes(encoder.stat().st_size))
    assert read_bundle(folder).codec_id != before.codec_id


def test_ids_of_the_official_files_come_from_the_pinned_list_without_hashing(folder, monkeypatch):
    edit(folder / MANIFEST, lambda manifest: manifest.pop("moss_nano"))
    pinned = tuple(
        PinnedFile("r", "v", path.parent.name, path.name, path.stat().st_size, "sha256", path.name)
        for path in folder.glob("*/*")
        if path.is_file()
    )
    monkeypatch.setattr(bundle_module, "PINNED_FILES", pinned)

    class NoHashing(DigestStore):
        def sha256(self, path):
            raise AssertionError(path)

    official = read_bundle(folder, NoHashing())
    monkeypatch.undo()
    assert official.bundle_id != read_bundle(folder).bundle_id
