"""The model as the contract's graphs (torch modules to be exported).

The pointer, the text's encoding and the speaker's vector travel in the cache of one layer more than
the model has, which no one attends to: the last key holds the next pointer, the values hold the
encoding, and the first of them the speaker. A runtime just hands the caches on.
"""

from dataclasses import dataclass
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import tokens
from .alignment import QUARTERS
from .codec import CODEBOOKS, CODES, SUBFRAMES
from .model import LOCAL_POSITIONS, MASKED, NEIGHBOURS, STEPS, Block, Model

LARGEST_UNIFORM: Final = 0.99999994
START, SLOT, CODE = 0, 1, 2  # step types of local_cached_step


@dataclass(frozen=True)
class Sampling:
    """What the fixed graph samples with."""

    temperature: float = 0.7
    top_k: int = 25
    top_p: float = 0.95
    repetition_penalty: float = 1.0


def attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
    """Attend with heads [B, T, H, D]; return [B, T, H, D]."""
    scores = (query.transpose(1, 2) @ key.permute(0, 2, 3, 1)) * query.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias
    return (scores.softmax(-1) @ value.transpose(1, 2)).transpose(1, 2)


class Graph(nn.Module):
    """What the graphs share."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("tone_in", model.tone_in.table().detach().clone())
        self.register_buffer("tone_out", model.tone_out.table().detach().clone())

    def code_vectors(self, codes: Tensor, heard: Tensor) -> Tensor:
        """Return vectors [..., n, code_width] of n codes, zero where not heard; n is even."""
        envelope = self.model.envelope_in(codes[..., 0::2])
        tone = F.embedding(codes[..., 1::2], self.tone_in)
        vectors = torch.stack([envelope, tone], -2).reshape(*codes.shape, -1)
        return vectors * heard[..., None]

    def frame_vectors(self, codes: Tensor, heard: Tensor) -> Tensor:
        """Return vectors [B, T, CODEBOOKS * code_width]."""
        width = CODEBOOKS * self.model.size.code_width
        return self.code_vectors(codes, heard).reshape(codes.shape[0], codes.shape[1], width)

    @staticmethod
    def known(codes: Tensor) -> tuple[Tensor, Tensor]:
        """Return codes without padding, and 1 where there was none."""
        heard = codes != tokens.AUDIO_PAD
        return torch.where(heard, codes, torch.zeros_like(codes)).clamp(0, CODES - 1), heard.float()

    def at_pointer(self, encoding: Tensor, pointer: Tensor) -> Tensor:
        """Return [B, 1, width]: what the pointer [B] sees of the encoding [B, T, width]."""
        place = torch.floor(pointer / QUARTERS)
        quarter = (pointer - QUARTERS * place).long()
        rows = torch.arange(encoding.shape[1])
        seen = []
        for off in NEIGHBOURS:
            here = (rows[None] == (place[:, None] + off).clamp(min=0)).float()
            seen.append(here[:, None, :] @ encoding)
        return self.model.pointer_in(torch.cat(seen, -1)) + self.model.quarter_in(quarter)[:, None]

    def block(
        self,
        block: Block,
        x: Tensor,
        positions: Tensor | None,
        bias: Tensor | None,
        past: tuple[Tensor, Tensor] | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Run a block after a past; return its output and the keys and values so far."""
        query, key, value = block.query_key_value(x, positions, self.model.frequencies)
        if past is not None:
            key, value = torch.cat([past[0], key], 1), torch.cat([past[1], value], 1)
        attended = attend(query, key, value, bias).reshape(x.shape)
        return block.finish(x, attended), key, value

    def pointer_key(self, hidden: Tensor, pointer: Tensor) -> Tensor:
        """Return rows [B, T, width] whose first element is the next pointer.

        It moves by the step expected: the likeliest step may be none, frame after frame.
        """
        steps = torch.arange(STEPS).float()
        moved = pointer + (self.model.step(hidden).softmax(-1) * steps).sum(-1)
        return torch.cat([moved[..., None], torch.zeros_like(hidden)[..., 1:]], -1)


class Prefill(Graph):
    """The graph prefill."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, ...]:
        """Read a prompt [B, T, 1 + CODEBOOKS]; every row sees every other."""
        model, size = self.model, self.model.size
        text, mask = input_ids[..., 0].long(), attention_mask.float()
        codes, heard = self.known(input_ids[..., 1:].long())
        after_reference = (torch.cumsum((text == tokens.AUDIO_END).long(), 1) > 0).float()
        character = (text >= tokens.FIRST_CHARACTER).float() * after_reference * mask
        reference = (text == tokens.USER_SLOT).float() * mask
        encoding = model.text(text, character)
        vectors = self.frame_vectors(codes, heard)
        count = reference.sum(1, keepdim=True).clamp_min(1)
        speaker = (model.speaker(vectors) * reference[..., None]).sum(1) / count
        pointer = character.argmax(1).float() * QUARTERS
        rows = torch.arange(text.shape[1])
        last = (rows[None] == (mask.sum(1, keepdim=True) - 1).long()).float()[..., None]
        x = model.token_in(text) + model.frame_in(vectors)
        x = x + model.text_in(encoding) * character[..., None]
        x = x + (self.at_pointer(encoding, pointer) + speaker[:, None]) * last
        positions = torch.cumsum(attention_mask.long(), 1) - 1
        bias = ((mask - 1) * -MASKED)[:, None, None]
        caches: list[Tensor] = []
        for block in model.blocks:
            x, key, value = self.block(block, x, positions, bias, None)
            caches += [key, value]
        hidden = model.norm(x)
        carried = self.pointer_key(hidden, pointer[:, None]) * last
        encoded = encoding + (rows == 0).float()[None, :, None] * speaker[:, None]
        shape = (*hidden.shape[:2], size.heads, size.width // size.heads)
        return hidden, *caches, carried.reshape(shape), encoded.reshape(shape)


class DecodeStep(Graph):
    """The graph decode_step."""

    def forward(
        self, input_ids: Tensor, past_valid_lengths: Tensor, *past: Tensor
    ) -> tuple[Tensor, ...]:
        """Read a frame [B, 1, 1 + CODEBOOKS]."""
        model, size = self.model, self.model.size
        codes, heard = self.known(input_ids[..., 1:].long())
        carried, encoded = past[2 * size.layers], past[2 * size.layers + 1]
        batch, rows = carried.shape[0], torch.arange(carried.shape[1])
        pointer = carried[:, -1, 0, 0]
        encoding = encoded.reshape(batch, carried.shape[1], size.width)
        speaker = encoding[:, :1]
        encoding = encoding * (rows > 0).float()[None, :, None]
        x = model.token_in(input_ids[..., 0].long())
        x = x + model.frame_in(self.frame_vectors(codes, heard))
        x = x + self.at_pointer(encoding, pointer) + speaker
        valid = past_valid_lengths.long()[:, None]
        bias = (torch.arange(carried.shape[1] + 1)[None] > valid).float()[:, None, None] * MASKED
        caches: list[Tensor] = []
        for number, block in enumerate(model.blocks):
            x, key, value = self.block(block, x, valid, bias, past[2 * number : 2 * number + 2])
            caches += [key, value]
        hidden = model.norm(x)
        shape = (batch, 1, size.heads, size.width // size.heads)
        key = self.pointer_key(hidden, pointer[:, None]).reshape(shape)
        caches += [torch.cat([carried, key], 1), torch.cat([encoded, torch.zeros_like(key)], 1)]
        return hidden, *caches


class LocalGraph(Graph):
    """What the local graphs share."""

    def local_blocks(
        self, x: Tensor, past: tuple[Tensor, ...] | list[Tensor] | None, bias: Tensor | None
    ) -> tuple[Tensor, list[Tensor]]:
        caches: list[Tensor] = []
        for number, block in enumerate(self.model.local_blocks):
            before = None if past is None else (past[2 * number], past[2 * number + 1])
            x, key, value = self.block(block, x, None, bias, before)
            caches += [key, value]
        return self.model.local_norm(x), caches

    def text_logits(self, x: Tensor) -> Tensor:
        """Return logits [B, VOCABULARY] of going on and of stopping; no other token is likely."""
        stop = self.model.stop(x)
        ids = torch.arange(tokens.VOCABULARY)
        on = (ids == tokens.ASSISTANT_SLOT).float()[None]
        end = (ids == tokens.AUDIO_END).float()[None]
        return MASKED * (1 - on - end) + on * stop[:, :1] + end * stop[:, 1:]

    def code_logits(self, x: Tensor, *, tone: bool) -> Tensor:
        model = self.model
        if tone:
            return model.tone_head(x) @ self.tone_out.T + model.tone_bias
        return model.envelope_head(x) @ model.envelope_out.weight.T + model.envelope_bias

    def local_code(self, code: Tensor, *, tone: bool) -> Tensor:
        """Return what the next position hears of a code [B]."""
        if tone:
            return self.model.local_tone(F.embedding(code, self.tone_in))
        return self.model.local_envelope(self.model.envelope_in(code))

    def slices(self, hidden: Tensor) -> Tensor:
        return self.model.local_slices(hidden).reshape(hidden.shape[0], SUBFRAMES, -1)


class LocalDecoder(LocalGraph):
    """The graph local_decoder."""

    def forward(
        self, global_hidden: Tensor, text_token_id: Tensor, audio_prefix_token_ids: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the logits of all codes after a prefix [1, CODEBOOKS - 1]."""
        model = self.model
        prefix = F.pad(audio_prefix_token_ids.long(), (0, 1), value=tokens.AUDIO_PAD)
        vectors = self.code_vectors(*self.known(prefix))
        heard = torch.stack(
            [model.local_envelope(vectors[:, 0::2]), model.local_tone(vectors[:, 1::2])], 2
        )
        heard = heard.reshape(1, CODEBOOKS, -1)[:, : CODEBOOKS - 1]
        before = torch.cat([torch.zeros_like(heard[:, :1]), heard], 1)
        slices = self.slices(global_hidden)[:, :, None]
        slices = slices.expand(-1, -1, 2, -1).reshape(1, CODEBOOKS, -1)
        x = torch.cat([model.local_start(global_hidden)[:, None], before + slices], 1)
        x = x + model.local_positions.weight + text_token_id.float()[:, None, None] * 0
        x, _ = self.local_blocks(x, None, model.causal[None, None])
        even = (torch.remainder(torch.arange(CODEBOOKS), 2) == 0).float()[None, :, None]
        envelopes = self.code_logits(x[:, 1:], tone=False) * even
        tones = self.code_logits(x[:, 1:], tone=True) * (1 - even)
        return self.text_logits(x[:, 0]), envelopes + tones


class LocalCachedStep(LocalGraph):
    """The graph local_cached_step."""

    def forward(
        self,
        global_hidden: Tensor,
        text_token_id: Tensor,
        audio_token_id: Tensor,
        channel_index: Tensor,
        step_type: Tensor,
        past_valid_lengths: Tensor,
        *past: Tensor,
    ) -> tuple[Tensor, ...]:
        """Return the logits after one more position."""
        model, valid = self.model, past_valid_lengths.long()
        code = audio_token_id.long().clamp(0, CODES - 1)
        even = (torch.remainder(channel_index, 2) == 0).float()[:, None]
        heard = self.local_code(code, tone=False) * even
        heard = heard + self.local_code(code, tone=True) * (1 - even)
        slices = self.slices(global_hidden)
        place = torch.div((valid - 1).clamp_min(0), 2, rounding_mode="floor")
        place = place.clamp(0, SUBFRAMES - 1)[:, None, None].expand(-1, 1, slices.shape[2])
        here = torch.gather(slices, 1, place)[:, 0]
        kind = step_type.long()[:, None]
        after = here + heard * (kind == CODE).float()
        x = torch.where(kind == START, model.local_start(global_hidden), after)
        x = x + model.local_positions(valid.clamp(0, LOCAL_POSITIONS - 1))
        x = x + text_token_id.float()[:, None] * 0
        x, caches = self.local_blocks(x[:, None], past, None)
        x = x[:, 0]
        channels = (torch.remainder(torch.arange(CODEBOOKS), 2) == 0).float()[None, :, None]
        envelope, tone = self.code_logits(x, tone=False), self.code_logits(x, tone=True)
        logits = envelope[:, None] * channels + tone[:, None] * (1 - channels)
        return self.text_logits(x), logits, *caches


class LocalFixedSampledFrame(LocalGraph):
    """The graph local_fixed_sampled_frame: a whole frame with the random numbers given."""

    def __init__(self, model: Model, sampling: Sampling) -> None:
        super().__init__(model)
        self.sampling = sampling

    def forward(
        self,
        global_hidden: Tensor,
        repetition_seen_mask: Tensor,
        assistant_random_u: Tensor,
        audio_random_u: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Return whether to go on [B, 1] and the frame [B, CODEBOOKS]."""
        model, positions = self.model, self.model.local_positions.weight
        start = (model.local_start(global_hidden) + positions[0])[:, None]
        x, past = self.local_blocks(start, None, None)
        going_on = model.stop(x[:, 0]).softmax(1)[:, 0]
        on = assistant_random_u.reshape(-1).clamp(0, LARGEST_UNIFORM) <= going_on
        slices = self.slices(global_hidden)
        heard = torch.zeros(1, slices.shape[2])
        frame = []
        for channel in range(CODEBOOKS):
            tone = channel % 2 == 1
            here = slices[:, channel // 2] + heard + positions[channel + 1]
            x, past = self.local_blocks(here[:, None], past, None)
            logits = self.code_logits(x[:, 0], tone=tone)
            seen, chance = repetition_seen_mask[:, channel], audio_random_u[:, channel]
            code = self.pick(logits, chance, seen)
            frame.append(code)
            heard = self.local_code(code, tone=tone)
        return on.int().reshape(-1, 1), torch.stack(frame, 1).int()

    def pick(self, logits: Tensor, chance: Tensor, seen: Tensor) -> Tensor:
        """Return a code [B] for uniform random numbers [B]."""
        sampling, penalty = self.sampling, self.sampling.repetition_penalty
        penalised = torch.where(logits < 0, logits * penalty, logits / penalty)
        logits = torch.where(seen > 0, penalised, logits)
        best, index = torch.topk(logits / sampling.temperature, sampling.top_k, dim=1)
        share = best.softmax(1)
        before = torch.cumsum(share, 1) - share
        kept = torch.where(before < sampling.top_p, best, torch.full_like(best, -1e9))
        below = torch.cumsum(kept.softmax(1), 1) < chance[:, None].clamp(0, LARGEST_UNIFORM)
        place = below.long().sum(1, keepdim=True).clamp(max=sampling.top_k - 1)
        return torch.gather(index, 1, place)[:, 0]
