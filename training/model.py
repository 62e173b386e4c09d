"""The model: text, voice and frames so far in, the next frame out. In plain torch, for training.

A text encoder reads the letters; a pointer tells which letter the speech has reached. The global
transformer sees the whole prompt in both directions and the frames causally. The local transformer
writes a frame's sixteen codes one after the other: two for each of its eight sub-frames.
"""

from dataclasses import dataclass
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .alignment import QUARTERS
from .codec import BANDS, CODEBOOKS, CODES, GAINS, SUBFRAMES
from .tokens import VOCABULARY

STEPS: Final = 48  # a frame moves the pointer by at most that many quarters, less one
LOCAL_POSITIONS: Final = 1 + CODEBOOKS
NEIGHBOURS: Final = (-1, 0, 1, 2)  # letters around the pointer that a frame sees
PITCH_ROWS: Final = 64
MASKED: Final = -1e4
LEVEL_IN, LEVEL_OUT = 12.0, 25.0  # dB that make one unit of an envelope code's vector


@dataclass(frozen=True)
class Size:
    """Widths and depths."""

    width: int = 192
    layers: int = 4
    heads: int = 6
    inner: int = 768
    local_width: int = 128
    local_layers: int = 2
    local_heads: int = 4
    local_inner: int = 384
    code_width: int = 48
    text_kernel: int = 5
    text_layers: int = 4
    sounds: int = 80  # phonemes that letters are taught, and silence


@dataclass
class Batch:
    """Padded rows of B utterances, T rows each: prompt, then frames.

    ``tokens`` [B, T]; ``codes`` [B, T, CODEBOOKS], as the model sees them; ``heard`` [B, T], 1
    where a row has codes it may see; ``character``, ``reference`` and ``spoken`` [B, T], 1 on rows
    of text, of the voice, and on rows whose next frame is predicted; ``pointer`` [B, T] in quarters
    of a row; ``prompt`` [B], its rows. The slices hold all rows of references, of texts with a row
    of none before and two behind, and of what is predicted. Targets, -100 where there is none:
    ``frame`` [B, T, CODEBOOKS], ``stop``, ``step`` and ``sound`` [B, T].
    """

    tokens: Tensor
    codes: Tensor
    heard: Tensor
    character: Tensor
    reference: Tensor
    spoken: Tensor
    pointer: Tensor
    prompt: Tensor
    frame: Tensor
    stop: Tensor
    step: Tensor
    sound: Tensor
    voice_rows: slice
    text_rows: slice
    spoken_rows: slice


def rotary_frequencies(head_width: int) -> Tensor:
    return 10_000 ** (-torch.arange(0, head_width, 2).float() / head_width)


def rotate(x: Tensor, positions: Tensor, frequencies: Tensor) -> Tensor:
    """Rotate heads [B, T, H, D] by their positions [B, T]."""
    angle = positions[:, :, None].float() * frequencies
    cosine, sine = torch.cos(angle)[:, :, None, :], torch.sin(angle)[:, :, None, :]
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine], -1).to(
        x.dtype
    )


class Block(nn.Module):
    """A pre-norm transformer block; who attends to whom is the caller's."""

    def __init__(self, width: int, heads: int, inner: int, *, relu: bool) -> None:
        super().__init__()
        self.heads, self.relu = heads, relu
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def query_key_value(
        self, x: Tensor, positions: Tensor | None, frequencies: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values [B, T, H, D], rotated where positions are given."""
        batch, rows, width = x.shape
        split = self.qkv(self.norm1(x)).view(batch, rows, 3, self.heads, width // self.heads)
        query, key, value = split.unbind(2)
        if positions is not None:
            query = rotate(query, positions, frequencies)
            key = rotate(key, positions, frequencies)
        return query, key, value

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """Add what was attended to, and the feed-forward part."""
        x = x + self.out(attended)
        hidden = self.up(self.norm2(x))
        return x + self.down(F.relu(hidden) if self.relu else F.gelu(hidden, approximate="tanh"))

    def whole(self, x: Tensor, mask: Tensor, positions: Tensor, frequencies: Tensor) -> Tensor:
        """Attend over long rows with a mask [B, 1, T, T]."""
        parts = self.query_key_value(x, positions, frequencies)
        query, key, value = (part.float().transpose(1, 2) for part in parts)
        with torch.autocast("cpu", enabled=False):
            attended = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.finish(x, attended.transpose(1, 2).reshape(x.shape))

    def short(self, x: Tensor, mask: Tensor, frequencies: Tensor) -> Tensor:
        """Attend over the few positions of a frame; written out, which is faster for them."""
        parts = self.query_key_value(x, None, frequencies)
        query, key, value = (part.transpose(1, 2).contiguous() for part in parts)
        scale = query.shape[-1] ** -0.5
        scores = (query @ key.transpose(-1, -2)) * scale + mask.to(query.dtype)
        attended = scores.softmax(-1).to(value.dtype) @ value
        return self.finish(x, attended.transpose(1, 2).reshape(x.shape))


class TextEncoder(nn.Module):
    """Residual convolutions over the letters."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width, count = size.width, size.text_layers
        self.letters = nn.Embedding(VOCABULARY, width)
        self.conv = nn.ModuleList(
            nn.Conv1d(width, width, size.text_kernel, padding=size.text_kernel // 2)
            for _ in range(count)
        )
        self.mix = nn.ModuleList(nn.Linear(width, width) for _ in range(count))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(count))
        self.last_norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor, character: Tensor) -> Tensor:
        """Return the encoding [B, T, width], zero on rows that are no letters."""
        mask = character[..., None]
        x = self.letters(tokens) * mask
        for conv, mix, norm in zip(self.conv, self.mix, self.norms, strict=True):
            hidden = conv((norm(x) * mask).transpose(1, 2)).transpose(1, 2)
            x = (x + mix(F.gelu(hidden, approximate="tanh"))) * mask
        return self.last_norm(x) * mask


class ToneTable(nn.Module):
    """Vectors of the odd codebooks' codes: those of a pitch, of a gain, and of both together."""

    def __init__(self, width: int, spread: float) -> None:
        super().__init__()
        self.pitch, self.gain = nn.Embedding(PITCH_ROWS, width), nn.Embedding(GAINS, width)
        self.both = nn.Embedding(CODES, width)
        nn.init.normal_(self.pitch.weight, 0, spread)
        nn.init.normal_(self.gain.weight, 0, spread)
        nn.init.zeros_(self.both.weight)
        self.register_buffer("codes", torch.arange(CODES), persistent=False)

    def table(self) -> Tensor:
        """Return the vectors [CODES, width]."""
        pitch = self.pitch.weight[torch.div(self.codes, GAINS, rounding_mode="floor")]
        return self.both.weight + pitch + self.gain.weight[self.codes % GAINS]


class Model(nn.Module):
    """The whole model. ``codebook`` [CODES, BANDS] is where the envelope codes' vectors start."""

    def __init__(self, size: Size, codebook: Tensor) -> None:
        super().__init__()
        self.size = size
        width, local, code = size.width, size.local_width, size.code_width
        self.text = TextEncoder(size)
        self.sound = nn.Linear(width, size.sounds)
        self.envelope_in, self.tone_in = nn.Embedding(CODES, code), ToneTable(code, 1.0)
        self.frame_in = nn.Linear(CODEBOOKS * code, width)
        self.token_in = nn.Embedding(VOCABULARY, width)
        self.text_in = nn.Linear(width, width)
        self.pointer_in = nn.Linear(len(NEIGHBOURS) * width, width)
        self.quarter_in = nn.Embedding(QUARTERS, width)
        self.speaker = nn.Sequential(
            nn.Linear(CODEBOOKS * code, width), nn.GELU(approximate="tanh"), nn.Linear(width, width)
        )
        self.blocks = nn.ModuleList(
            Block(width, size.heads, size.inner, relu=False) for _ in range(size.layers)
        )
        self.norm = nn.LayerNorm(width)
        self.step = nn.Linear(width, STEPS)
        self.local_start = nn.Linear(width, local)
        self.local_slices = nn.Linear(width, SUBFRAMES * local)
        self.local_positions = nn.Embedding(LOCAL_POSITIONS, local)
        self.local_envelope = nn.Linear(code, local, bias=False)
        self.local_tone = nn.Linear(code, local, bias=False)
        self.local_blocks = nn.ModuleList(
            Block(local, size.local_heads, size.local_inner, relu=True)
            for _ in range(size.local_layers)
        )
        self.local_norm = nn.LayerNorm(local)
        self.stop = nn.Linear(local, 2)  # 0: another frame, 1: the end
        self.envelope_head, self.tone_head = nn.Linear(local, code), nn.Linear(local, code)
        self.envelope_out, self.tone_out = nn.Embedding(CODES, code), ToneTable(code, 0.3)
        self.envelope_bias = nn.Parameter(torch.zeros(CODES))
        self.tone_bias = nn.Parameter(torch.zeros(CODES))
        self._initialise(codebook)
        causal = torch.triu(torch.full((LOCAL_POSITIONS, LOCAL_POSITIONS), MASKED), 1)
        self.register_buffer("causal", causal, persistent=False)
        frequencies = rotary_frequencies(width // size.heads)
        self.register_buffer("frequencies", frequencies, persistent=False)

    def _initialise(self, codebook: Tensor) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
            if isinstance(module, Block):
                module.out.weight.data *= 0.5
                module.down.weight.data *= 0.5
        for table in (self.token_in, self.quarter_in, self.local_positions):
            nn.init.normal_(table.weight, 0, 0.1)
        nn.init.normal_(self.envelope_out.weight, 0, 0.3)
        self.envelope_in.weight.data[:, BANDS:] *= 0.3
        # about -10 +- 12 dB become about 0 +- 1
        self.envelope_in.weight.data[:, :BANDS] = (codebook + 10) / LEVEL_IN
        self.envelope_out.weight.data[:, :BANDS] = (codebook + 10) / LEVEL_OUT

    def follow(self, moved: Tensor) -> None:
        """Let the vectors of the envelope codes follow codewords that moved [CODES, BANDS]."""
        self.envelope_in.weight.data[:, :BANDS] += moved / LEVEL_IN
        self.envelope_out.weight.data[:, :BANDS] += moved / LEVEL_OUT

    def code_vectors(self, codes: Tensor) -> Tensor:
        """Return the vectors [..., CODEBOOKS, code_width] of codes [..., CODEBOOKS]."""
        envelope = self.envelope_in(codes[..., 0::2])
        tone = F.embedding(codes[..., 1::2], self.tone_in.table())
        return torch.stack([envelope, tone], -2).flatten(-3, -2)

    def at_pointer(self, encoding: Tensor, pointer: Tensor) -> Tensor:
        """Return what the pointer [B, T] sees of the text's encoding."""
        place = torch.div(pointer, QUARTERS, rounding_mode="floor")
        last, width = encoding.shape[1] - 1, encoding.shape[2]
        seen = [
            encoding.gather(1, (place + off).clamp(0, last)[..., None].expand(-1, -1, width))
            for off in NEIGHBOURS
        ]
        quarter = (pointer - QUARTERS * place).clamp(0, QUARTERS - 1)
        return self.pointer_in(torch.cat(seen, -1)) + self.quarter_in(quarter)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the hidden state of each row [B, T, width] and the encoding of the texts' rows."""
        text, voice, spoken = batch.text_rows, batch.voice_rows, batch.spoken_rows
        encoding = self.text(batch.tokens[:, text], batch.character[:, text])
        vectors = (self.code_vectors(batch.codes) * batch.heard[..., None, None]).flatten(-2)
        speaker = self.speaker(vectors[:, voice]).mean(1, keepdim=True)
        read = self.text_in(encoding) * batch.character[:, text, None]
        here = self.at_pointer(encoding, batch.pointer[:, spoken] - QUARTERS * text.start)
        here = (here + speaker) * batch.spoken[:, spoken, None]
        length = batch.tokens.shape[1]
        x = self.token_in(batch.tokens) + self.frame_in(vectors)
        x = x + F.pad(read, (0, 0, text.start, length - text.stop))
        x = x + F.pad(here, (0, 0, spoken.start, length - spoken.stop))
        rows = torch.arange(batch.tokens.shape[1])
        prompt = rows < batch.prompt[:, None]
        open_ = (rows[:, None] >= rows) | (prompt[:, :, None] & prompt[:, None, :])
        mask = torch.zeros(open_.shape).masked_fill(~open_, MASKED)[:, None]
        positions = rows[None].expand(batch.tokens.shape)
        for block in self.blocks:
            x = block.whole(x, mask, positions, self.frequencies)
        return self.norm(x), encoding

    def local(self, hidden: Tensor, codes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Predict frames [N, CODEBOOKS] from hidden states [N, width], each code from those before.

        Returns logits: of stopping [N, 2], of envelopes and of tones [N, SUBFRAMES, CODES].
        """
        vectors = self.code_vectors(codes)
        envelope, tone = self.local_envelope(vectors[:, 0::2]), self.local_tone(vectors[:, 1::2])
        before = torch.stack([envelope, tone], 2).flatten(1, 2)[:, : CODEBOOKS - 1]
        before = F.pad(before, (0, 0, 1, 0))
        slices = self.local_slices(hidden).view(len(hidden), SUBFRAMES, -1).repeat_interleave(2, 1)
        x = torch.cat([self.local_start(hidden)[:, None], before + slices], 1)
        x = x + self.local_positions.weight
        for block in self.local_blocks:
            x = block.short(x, self.causal, self.frequencies)
        x = self.local_norm(x)
        envelopes = self.envelope_head(x[:, 1::2]) @ self.envelope_out.weight.T
        tones = self.tone_head(x[:, 2::2]) @ self.tone_out.table().T
        return self.stop(x[:, 0]), envelopes + self.envelope_bias, tones + self.tone_bias
