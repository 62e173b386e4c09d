"""How large a random bundle is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CodecStage:
    """One causal transformer of the codec's decoder.

    The encoder has the same stages in reverse order.

    Attributes:
        layers: Transformer layers in the stage.
        context: Window in tokens: a query sees keys at distance 0 to context - 1.
        patch: Tokens that one token of the stage before becomes on entering this one.
    """

    layers: int
    context: int
    patch: int


@dataclass(frozen=True)
class BundleSize:
    """Every dimension of a bundle.

    Attributes:
        hidden: Width of the global and the local transformer.
        heads: Attention heads of both; `hidden` is a multiple of it and the quotient is even.
        feed_forward: Inner width of their MLPs.
        global_layers: Layers of the global transformer.
        local_layers: Layers of the local transformer.
        vocabulary: SentencePiece pieces, at least 400.
        codebooks: Codes per frame.
        codebook_size: Entries of a codebook; also the id of an unused audio cell.
        sample_rate: In Hz.
        channels: Audio channels, interleaved sample by sample inside the codec.
        codec_width: Width of the codec's transformers.
        codec_heads: Their attention heads.
        codec_feed_forward: Inner width of their MLPs.
        codec_latent: Channels of the codec's latent frames, a multiple of the last patch.
        quantizer_width: Width inside the residual quantiser.
        code_width: Length of a codebook vector.
        codec_stages: The decoder's transformers, slowest first.
        sample_patch: Samples of the interleaved stream in one token of the fastest stage.
        layer_scale: Size of the codec's LayerScale weights.
        frames_per_token: Frames after which the model stops by itself, per text token; None
            leaves the stop decision to chance.
        base_frames: Marker `cap.base`, the frames a runtime allows any text.
        cap_frames: Marker `cap.per_token`, the frames it allows on top per text token.
    """

    hidden: int
    heads: int
    feed_forward: int
    global_layers: int
    local_layers: int
    vocabulary: int
    codebooks: int
    codebook_size: int
    sample_rate: int
    channels: int
    codec_width: int
    codec_heads: int
    codec_feed_forward: int
    codec_latent: int
    quantizer_width: int
    code_width: int
    codec_stages: tuple[CodecStage, ...]
    sample_patch: int
    layer_scale: float
    frames_per_token: float | None
    base_frames: int
    cap_frames: int

    @property
    def head_dim(self) -> int:
        """Width of one attention head of the language model."""
        return self.hidden // self.heads

    @property
    def codec_head_dim(self) -> int:
        """Width of one attention head of the codec."""
        return self.codec_width // self.codec_heads

    @property
    def row_width(self) -> int:
        """Integers in a row: one text token and one code per codebook."""
        return self.codebooks + 1

    @property
    def samples_per_frame(self) -> int:
        """Samples of each channel in a frame of codes."""
        samples = self.sample_patch
        for stage in self.codec_stages:
            samples *= stage.patch
        return samples // self.channels


# The published model: tts_browser_onnx_meta.json, codec_browser_onnx_meta.json and the
# configuration of the tokenizer's encoder and decoder.
OFFICIAL = BundleSize(
    hidden=768,
    heads=12,
    feed_forward=3072,
    global_layers=12,
    local_layers=1,
    vocabulary=16384,
    codebooks=16,
    codebook_size=1024,
    sample_rate=48000,
    channels=2,
    codec_width=256,
    codec_heads=4,
    codec_feed_forward=1024,
    codec_latent=768,
    quantizer_width=512,
    code_width=8,
    codec_stages=(
        CodecStage(layers=4, context=500, patch=4),
        CodecStage(layers=2, context=800, patch=2),
        CodecStage(layers=2, context=1200, patch=2),
        CodecStage(layers=4, context=1600, patch=2),
    ),
    sample_patch=240,
    layer_scale=0.01,
    frames_per_token=None,
    base_frames=50,
    cap_frames=10,
)

# Small enough to build in a second. Its windows are two to five frames, so a short test
# passes them, and its LayerScale is large enough for attention to be heard.
TINY = BundleSize(
    hidden=64,
    heads=4,
    feed_forward=128,
    global_layers=2,
    local_layers=1,
    vocabulary=420,
    codebooks=16,
    codebook_size=64,
    sample_rate=48000,
    channels=2,
    codec_width=32,
    codec_heads=2,
    codec_feed_forward=64,
    codec_latent=64,
    quantizer_width=32,
    code_width=8,
    codec_stages=(
        CodecStage(layers=1, context=20, patch=4),
        CodecStage(layers=1, context=32, patch=2),
        CodecStage(layers=1, context=48, patch=2),
        CodecStage(layers=2, context=64, patch=2),
    ),
    sample_patch=240,
    layer_scale=0.3,
    frames_per_token=4.21,
    base_frames=12,
    cap_frames=6,
)
