"""The official model: its 18 files as published, pinned by revision, size and digest.

Source: the Hugging Face repositories named here, at the revisions named here. A Git LFS object is
pinned by its SHA-256, a plain file by its git blob id (SHA-1 over the
word blob, the size, a NUL and the content).
"""

import json
from dataclasses import asdict, dataclass
from typing import Final, Literal

Algorithm = Literal["git-blob-sha1", "sha256"]


@dataclass(frozen=True)
class PinnedFile:
    """One published file; ``bytes`` is its size and ``directory`` its folder under models/."""

    repository: str
    revision: str
    directory: str
    file: str
    bytes: int
    algorithm: Algorithm
    digest: str


_Row = tuple[str, int, Algorithm, str]


def _pin(repository: str, revision: str, rows: tuple[_Row, ...]) -> tuple[PinnedFile, ...]:
    directory = repository.partition("/")[2]
    return tuple(PinnedFile(repository, revision, directory, *row) for row in rows)


_TTS_ROWS: Final[tuple[_Row, ...]] = (
    ("README.md", 6_095, "git-blob-sha1", "7b61e0071d117e56943eefc753b7b65208da02fe"),
    (
        "browser_poc_manifest.json",
        503_354,
        "git-blob-sha1",
        "8a04b980c3b9ea2f56747650ea255efe421ada38",
    ),
    (
        "moss_tts_decode_step.onnx",
        291_483,
        "sha256",
        "698cbc2fc1c2feca16e5895614ed52bbb32ded10f236c076f477b2e69abf32d8",
    ),
    (
        "moss_tts_global_shared.data",
        440_813_568,
        "sha256",
        "bce8312c3df6a44545302cae229b61054fe0672e0b252ba59cba47adeed831dc",
    ),
    (
        "moss_tts_local_cached_step.onnx",
        53_685,
        "sha256",
        "aa9035fefc1c138a951a8bcfc0374fb03a25f1ece67f7f7f53bce349b84a1dd5",
    ),
    (
        "moss_tts_local_decoder.onnx",
        49_231,
        "sha256",
        "51aa754301b38550a5f9adda0ad93bd3dc95819afb511e6dcabf4a90b345a454",
    ),
    (
        "moss_tts_local_fixed_sampled_frame.onnx",
        471_262,
        "sha256",
        "40cdb00efc171c450cf91468e01429caa41b0252222cd308e978f58fe354afa8",
    ),
    (
        "moss_tts_local_shared.data",
        229_678_080,
        "sha256",
        "bae7782032c0fb12490ab42afe009f87ae6c75a0f0596fc7b5c08e4d5ee93916",
    ),
    (
        "moss_tts_prefill.onnx",
        283_305,
        "sha256",
        "d56126dcd0574c2f15d98fc6b35eda68d0386b5bd9c5e38e28548d6f2ea8f3db",
    ),
    (
        "tokenizer.model",
        470_897,
        "sha256",
        "c353ee1479b536bf414c1b247f5542b6607fb8ae91320e5af1781fee200fddff",
    ),
    (
        "tts_browser_onnx_meta.json",
        4_487,
        "git-blob-sha1",
        "883597607ce139b2c4871468396af2c088ed2fe0",
    ),
)

_CODEC_ROWS: Final[tuple[_Row, ...]] = (
    ("README.md", 4_892, "git-blob-sha1", "46f3d445b16e8a283dd62fc9bdeec8aa35a59337"),
    (
        "codec_browser_onnx_meta.json",
        17_036,
        "git-blob-sha1",
        "886953a56489516b847b7c1c953bde063eb78faa",
    ),
    (
        "moss_audio_tokenizer_decode_full.onnx",
        681_902,
        "sha256",
        "0fbbafe3fd4afa2a019af5c5ced204af6e2d1db044fa40f021525d2aee95b4ac",
    ),
    (
        "moss_audio_tokenizer_decode_shared.data",
        44_198_912,
        "sha256",
        "e69d52e0f4e84ca27850557ee54face46632d3a5a16c89bd246c7c408466dcad",
    ),
    (
        "moss_audio_tokenizer_decode_step.onnx",
        351_400,
        "sha256",
        "9527c86a29e1837edec1f74db57d5eeaadb3a715af3382703566460afed25855",
    ),
    (
        "moss_audio_tokenizer_encode.data",
        44_507_136,
        "sha256",
        "aa751265b2bab2887eac224484546b194875aa7494b607115439b3dc6b228a2c",
    ),
    (
        "moss_audio_tokenizer_encode.onnx",
        815_775,
        "sha256",
        "eadea4a645abdcf98714c7aead122ee2ce7da6e080f9f80b977cd1ca8e19473a",
    ),
)

PINNED_FILES: Final = (
    *_pin(
        "OpenMOSS-Team/MOSS-TTS-Nano-100M-ONNX",
        "f52645cb467506d8e18e746ddd59482685b74e58",
        _TTS_ROWS,
    ),
    *_pin(
        "OpenMOSS-Team/MOSS-Audio-Tokenizer-Nano-ONNX",
        "ceff0d0749bfb3fa2d61149794ec6feef0d1e1ae",
        _CODEC_ROWS,
    ),
)


def manifest_json(files: tuple[PinnedFile, ...] = PINNED_FILES) -> str:
    """Return the pinned list in its published form: two-space JSON, LF, final newline."""
    return json.dumps({"files": [asdict(file) for file in files]}, indent=2) + "\n"
