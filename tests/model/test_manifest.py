import hashlib

from wyoming_moss_nano.model.manifest import PINNED_FILES, manifest_json

PUBLISHED = "7b0f9b6a346d2f1d384c1a2fd8d9dc3215246392c720b7f64cace88540eef19f"


def test_the_pinned_list_is_the_published_one_byte_for_byte():
    assert hashlib.sha256(manifest_json().encode()).hexdigest() == PUBLISHED


def test_the_list_names_eighteen_files_in_two_folders():
    assert len(PINNED_FILES) == 18
    assert {file.directory for file in PINNED_FILES} == {
        "MOSS-TTS-Nano-100M-ONNX",
        "MOSS-Audio-Tokenizer-Nano-ONNX",
    }
