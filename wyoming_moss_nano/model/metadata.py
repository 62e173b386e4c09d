"""The three metadata files of a bundle as typed, checked values.

Every id, size and template comes from the files, never from this code: fine-tuned exports and our
own bundles differ from the official one. Keys that only describe (format_version, display names,
text_samples) may be absent.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..errors import BundleError
from .json_object import JsonObject

# The 20 languages the publisher names for MOSS-TTS-Nano.
OFFICIAL_LANGUAGES: Final = tuple(
    "zh en de es fr ja it hu ko ru fa ar pl pt cs da sv el tr".split()
)


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of the language model; ``codebook_sizes`` has one entry per codebook."""

    n_vq: int
    hidden_size: int
    global_layers: int
    global_heads: int
    head_dim: int
    local_layers: int
    local_heads: int
    local_head_dim: int
    vocab_size: int
    codebook_sizes: tuple[int, ...]

    @property
    def row_width(self) -> int:
        """Width of a prompt row: one text cell and one cell per codebook."""
        return self.n_vq + 1


@dataclass(frozen=True)
class TokenIds:
    """Ids with a meaning of their own; ``audio_pad`` fills unused code cells, the rest are text."""

    audio_pad: int
    pad: int
    im_start: int
    im_end: int
    audio_start: int
    audio_end: int
    audio_user_slot: int
    audio_assistant_slot: int

    def text_ids(self) -> frozenset[int]:
        """Return every id that names a text token, none of which user text may produce."""
        return frozenset(getattr(self, f.name) for f in fields(self)) - {self.audio_pad}


@dataclass(frozen=True)
class PromptTemplates:
    """Text ids around the reference and the text of a voice-clone prompt."""

    before_reference: tuple[int, ...]
    after_reference: tuple[int, ...]
    assistant: tuple[int, ...]


@dataclass(frozen=True)
class SamplingDefaults:
    """How codes are sampled: as a bundle wants it, or as its frame graph has it baked in."""

    text_temperature: float
    text_top_p: float
    text_top_k: int
    audio_temperature: float
    audio_top_p: float
    audio_top_k: int
    audio_repetition_penalty: float


@dataclass(frozen=True)
class StateTensor:
    """One tensor of the codec's streaming state; it starts filled with ``initial``."""

    input_name: str
    output_name: str
    shape: tuple[int, ...]
    element_type: str
    initial: int


@dataclass(frozen=True)
class CodecConfig:
    """The audio codec: Hz, channels, samples per frame and channel, and its streaming state."""

    sample_rate: int
    channels: int
    downsample_rate: int
    quantizers: int
    state: tuple[StateTensor, ...]


@dataclass(frozen=True)
class BundleRules:
    """What a bundle says about its own use in the object ``moss_nano`` of its manifest.

    A text of N tokens may become at most ``cap_base + cap_per_token * N`` frames.
    """

    kind: str
    languages: tuple[str, ...]
    offer_builtin_voices: bool
    prefix_reuse: bool
    max_text_tokens: int
    cap_base: float
    cap_per_token: float


# The publisher splits at 75 text tokens. Its tokenizer gives about four tokens a second of English
# or Chinese, which is three to four frames a token; ten, and four seconds on top, leave room for
# slow voices and numbers written as digits, and end a two-word text after six seconds, not thirty.
OFFICIAL_RULES: Final = BundleRules(
    kind="official",
    languages=OFFICIAL_LANGUAGES,
    offer_builtin_voices=False,
    prefix_reuse=True,
    max_text_tokens=75,
    cap_base=50,
    cap_per_token=10,
)


def read_model_config(tts_meta: JsonObject) -> ModelConfig:
    """Read the language model's sizes and refuse sizes that contradict each other."""
    source = tts_meta.object("model_config")
    config = ModelConfig(
        n_vq=source.integer("n_vq"),
        hidden_size=source.integer("hidden_size"),
        global_layers=source.integer("global_layers"),
        global_heads=source.integer("global_heads"),
        head_dim=source.integer("head_dim"),
        local_layers=source.integer("local_layers"),
        local_heads=source.integer("local_heads"),
        local_head_dim=source.integer("local_head_dim"),
        vocab_size=source.integer("vocab_size"),
        codebook_sizes=source.integers("audio_codebook_sizes"),
    )
    if config.n_vq < 1 or len(config.codebook_sizes) != config.n_vq:
        raise BundleError(
            f"{source.where}: n_vq is {config.n_vq}, but audio_codebook_sizes has "
            f"{len(config.codebook_sizes)} entries"
        )
    if "row_width" in source and source.integer("row_width") != config.row_width:
        raise BundleError(f"{source.where}: row_width must be n_vq + 1 = {config.row_width}")
    return config


def read_token_ids(manifest: JsonObject, config: ModelConfig) -> TokenIds:
    """Read the special ids; text ids must be in the vocabulary, the audio pad outside codebooks."""
    source = manifest.object("tts_config")
    ids = TokenIds(**{f.name: source.integer(f"{f.name}_token_id") for f in fields(TokenIds)})
    outside = [i for i in ids.text_ids() if i >= config.vocab_size]
    if outside:
        raise BundleError(
            f"{source.where}: id {outside[0]} is outside the vocabulary of {config.vocab_size}"
        )
    if ids.audio_pad < max(config.codebook_sizes):
        raise BundleError(f"{source.where}: audio_pad_token_id {ids.audio_pad} is also a code")
    return ids


def read_templates(manifest: JsonObject, config: ModelConfig) -> PromptTemplates:
    """Read the three prompt templates and check their ids against the vocabulary."""
    source = manifest.object("prompt_templates")
    templates = PromptTemplates(
        before_reference=source.integers("user_prompt_prefix_token_ids"),
        after_reference=source.integers("user_prompt_after_reference_token_ids"),
        assistant=source.integers("assistant_prompt_prefix_token_ids"),
    )
    for ids in (templates.before_reference, templates.after_reference, templates.assistant):
        if any(i >= config.vocab_size for i in ids):
            raise BundleError(
                f"{source.where}: id {max(ids)} is outside the vocabulary of {config.vocab_size}"
            )
    return templates


def read_sampling(manifest: JsonObject) -> SamplingDefaults:
    """Read how the bundle wants its codes sampled; temperatures must be above 0."""
    return _read_sampling(manifest.object("generation_defaults"))


def read_frame_sampling(tts_meta: JsonObject, manifest: JsonObject) -> SamplingDefaults:
    """Read what the graph that samples a frame has baked in; if it is not told, the defaults."""
    onnx = tts_meta.object("onnx") if "onnx" in tts_meta else tts_meta
    if "fixed_sampled_frame_constants" in onnx:
        return _read_sampling(onnx.object("fixed_sampled_frame_constants"))
    return read_sampling(manifest)


def _read_sampling(source: JsonObject) -> SamplingDefaults:
    sampling = SamplingDefaults(
        text_temperature=source.number("text_temperature"),
        text_top_p=source.number("text_top_p"),
        text_top_k=source.integer("text_top_k"),
        audio_temperature=source.number("audio_temperature"),
        audio_top_p=source.number("audio_top_p"),
        audio_top_k=source.integer("audio_top_k"),
        audio_repetition_penalty=source.number("audio_repetition_penalty"),
    )
    for name in ("text_temperature", "audio_temperature", "audio_repetition_penalty"):
        if getattr(sampling, name) <= 0:
            raise BundleError(f"{source.where}: {name} must be above 0")
    return sampling


def read_codec_config(codec_meta: JsonObject) -> CodecConfig:
    """Read the codec's format and the tensors of its streaming state, in input order."""
    source = codec_meta.object("codec_config")
    streaming = codec_meta.object("streaming_decode")
    state = [
        StateTensor(
            spec.text("input_name"), spec.text("output_name"), spec.integers("shape"), "int32", 0
        )
        for spec in streaming.objects("transformer_offsets")
    ]
    for spec in streaming.objects("attention_caches"):
        state += _cache_tensors(spec)
    config = CodecConfig(
        sample_rate=source.integer("sample_rate"),
        channels=source.integer("channels"),
        downsample_rate=source.integer("downsample_rate"),
        quantizers=source.integer("num_quantizers"),
        state=tuple(state),
    )
    if not (config.sample_rate and config.channels and config.downsample_rate):
        raise BundleError(
            f"{source.where}: sample rate, channels and downsample rate must be above 0"
        )
    return config


def _cache_tensors(spec: JsonObject) -> Iterable[StateTensor]:
    # offsets and caches start at 0; position -1 marks an empty place of the attention window
    for part, shape, element_type, initial in (
        ("offset", "offset_shape", "int32", 0),
        ("cached_keys", "cache_shape", "float32", 0),
        ("cached_values", "cache_shape", "float32", 0),
        ("cached_positions", "positions_shape", "int32", -1),
    ):
        yield StateTensor(
            input_name=spec.text(f"{part}_input_name"),
            output_name=spec.text(f"{part}_output_name"),
            shape=spec.integers(shape),
            element_type=element_type,
            initial=initial,
        )


def read_rules(manifest: JsonObject) -> BundleRules:
    """Read the bundle's own rules; without the object ``moss_nano`` the official ones hold."""
    if "moss_nano" not in manifest:
        return OFFICIAL_RULES
    source = manifest.object("moss_nano")
    cap = source.object("cap")
    rules = BundleRules(
        kind=source.text("kind"),
        languages=source.texts("languages"),
        offer_builtin_voices=source.flag("offer_builtin_voices"),
        prefix_reuse=source.flag("prefix_reuse"),
        max_text_tokens=source.integer("max_text_tokens"),
        cap_base=cap.number("base"),
        cap_per_token=cap.number("per_token"),
    )
    if rules.kind not in ("embedded", "random"):
        raise BundleError(f"{source.where}: kind must be embedded or random, not {rules.kind!r}")
    if not rules.languages or rules.max_text_tokens < 1 or rules.cap_base < 1:
        raise BundleError(f"{source.where}: needs a language, a text token and a frame at least")
    if rules.cap_per_token < 0:
        raise BundleError(f"{source.where}: cap.per_token must be at least 0")
    return rules


def read_builtin_voices(
    manifest: JsonObject, rules: BundleRules, config: ModelConfig
) -> dict[str, NDArray[np.int32]]:
    """Return the codes [frames, n_vq] of the built-in voices that may be offered, by name.

    The official manifest's voices carry names of real persons: they are not even read.
    """
    if not rules.offer_builtin_voices:
        return {}
    voices: dict[str, NDArray[np.int32]] = {}
    for entry in manifest.objects("builtin_voices"):
        name = entry.text("voice").lower()
        voices[name] = check_codes(
            entry.raw("prompt_audio_codes"), config.codebook_sizes, f"{entry.where} ({name})"
        )
    return voices


def check_codes(codes: Any, codebook_sizes: tuple[int, ...], where: str) -> NDArray[np.int32]:
    """Return reference codes as int32 [frames, codebooks], every code inside its codebook.

    Raises:
        BundleError: not a non-empty table of whole numbers of that width and range.
    """
    try:
        table = np.asarray(codes)
    except ValueError:
        raise BundleError(f"{where}: the frames of its codes differ in width") from None
    width = len(codebook_sizes)
    if table.ndim != 2 or table.shape[1] != width or not len(table):  # noqa: PLR2004
        raise BundleError(f"{where}: codes must be frames of {width}, not shape {table.shape}")
    if not np.issubdtype(table.dtype, np.number) or (table != np.trunc(table)).any():
        raise BundleError(f"{where}: codes must be whole numbers")
    if (table < 0).any() or (table >= np.asarray(codebook_sizes)).any():
        raise BundleError(f"{where}: a code lies outside its codebook")
    return np.ascontiguousarray(table, dtype=np.int32)
