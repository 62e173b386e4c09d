"""The language model once more, in plain NumPy, as its description has it.

A second opinion on the engine and on the graphs of a random bundle: it shares no code with either,
reads its weights by name out of the written graphs and computes in float64. Nothing is cached:
every frame recomputes the whole prompt and every code the whole local sequence.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

TTS_FOLDER = "MOSS-TTS-Nano-100M-ONNX"

# Where so small a change of the logits turns a choice, rounding decides; the logits of the float32
# graphs are about four times as exact.
WOBBLE = 5e-5
_WOBBLES = np.random.default_rng(0).uniform(-WOBBLE, WOBBLE, (2, 1024))


def read_weights(*graphs: Path) -> dict[str, np.ndarray]:
    """All initializers of the graphs, float64 by name."""
    return {
        tensor.name: numpy_helper.to_array(tensor).astype(np.float64)
        for graph in graphs
        for tensor in onnx.load(graph).graph.initializer
    }


# --- what every transformer here is made of ---------------------------------------------------


def layer_norm(rows, weight, bias):
    centred = rows - rows.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5) * weight + bias


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def turned(vectors):
    """Rotary positions: each pair (even, odd) of [rows, width] is a complex number that turns."""
    count, width = vectors.shape
    speeds = 10000.0 ** (-np.arange(0, width, 2) / width)
    angles = np.arange(count)[:, np.newaxis] * speeds
    numbers = (vectors[:, 0::2] + 1j * vectors[:, 1::2]) * np.exp(1j * angles)
    result = np.empty_like(vectors)
    result[:, 0::2], result[:, 1::2] = numbers.real, numbers.imag
    return result


def attention(joined, heads, window=None):
    """Causal self-attention over queries, keys and values side by side: [rows, 3 * width].

    A row sees itself and the rows before it, ``window`` rows in all if that is given.
    """
    queries, keys, values = np.split(joined, 3, axis=1)
    distance = np.subtract.outer(np.arange(len(joined)), np.arange(len(joined)))
    visible = distance >= 0 if window is None else (distance >= 0) & (distance < window)
    width = queries.shape[1] // heads
    mixed = []
    for head in range(heads):
        own = slice(head * width, (head + 1) * width)
        scores = turned(queries[:, own]) @ turned(keys[:, own]).T / math.sqrt(width)
        mixed.append(softmax(np.where(visible, scores, -np.inf)) @ values[:, own])
    return np.concatenate(mixed, axis=1)


def gelu_tanh(values):
    return values / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (values + 0.044715 * values**3)))


# --- choosing codes ---------------------------------------------------------------------------


@dataclass(frozen=True)
class SamplingRules:
    penalty: float
    temperature: float
    top_k: int
    top_p: float


def penalised(logits, seen, penalty):
    """Logits as a list, those of seen codes made less likely; in the precision they come in."""
    factor = logits.dtype.type(penalty)
    scores = []
    for logit, was_seen in zip(logits, seen, strict=True):
        if not was_seen:
            scores.append(logit)
        elif logit < 0:
            scores.append(logit * factor)
        else:
            scores.append(logit / factor)
    return scores


def most_likely(logits, seen, penalty):
    best, best_score = 0, -math.inf
    for code, score in enumerate(penalised(logits.astype(np.float64), seen, penalty)):
        if score > best_score:
            best, best_score = code, score
    return best


def kept_by_host(logits, seen, rules):
    """The codes that the host's sampler may draw, with their probabilities; a dict by code."""
    temperature = logits.dtype.type(rules.temperature)
    scores = [score / temperature for score in penalised(logits, seen, rules.penalty)]
    kept = list(range(len(scores)))
    if 0 < rules.top_k < len(scores):
        threshold = sorted(scores, reverse=True)[rules.top_k - 1]
        kept = [code for code in kept if scores[code] >= threshold]
    if 0 < rules.top_p < 1:
        chances = _chances(scores, kept)
        nucleus, covered = [], 0.0
        for code in sorted(kept, key=lambda code: (-scores[code], code)):
            # the code that crosses the limit is still in
            if covered > rules.top_p:
                break
            nucleus.append(code)
            covered += chances[code]
        kept = nucleus
    return _chances(scores, kept)


def _chances(scores, kept):
    highest = max(scores[code] for code in kept)
    powers = {code: math.exp(scores[code] - highest) for code in kept}
    total = sum(powers.values())
    return {code: power / total for code, power in powers.items()}


def drawn_by_host(logits, seen, rules, draw):
    """Subtract chance after chance from the draw, in the order of codes, until nothing is left.

    A draw of exactly zero has nothing left from the start: it is code 0 whether kept or not.
    """
    chances = kept_by_host(logits, seen, rules)
    for code in range(len(logits)):
        draw -= chances.get(code, 0.0)
        if draw <= 0:
            return code
    return max(chances, key=chances.__getitem__)


def drawn_by_graph(logits, seen, rules, draw):
    """The sampler inside the graph: sorted codes, and the first whose summed chance reaches u."""
    scores = np.array(penalised(logits, seen, rules.penalty)) / rules.temperature
    order = sorted(range(len(scores)), key=lambda code: (-scores[code], code))[: rules.top_k]
    chances = softmax(scores[order])
    nucleus, covered = [], 0.0
    for code, chance in zip(order, chances, strict=True):
        if covered < rules.top_p:
            nucleus.append(code)
        covered += chance
    reached = 0.0
    for code, chance in zip(nucleus, softmax(scores[nucleus]), strict=True):
        reached += chance
        if reached >= draw:
            return code
    return nucleus[-1]


# --- the model --------------------------------------------------------------------------------


class LanguageModel:
    """Global and local transformer of a random bundle, and how a prompt is laid out for them."""

    def __init__(self, folder: Path) -> None:
        tts = folder / TTS_FOLDER
        self._weights = read_weights(
            tts / "moss_tts_prefill.onnx", tts / "moss_tts_local_cached_step.onnx"
        )
        metadata = json.loads((tts / "tts_browser_onnx_meta.json").read_bytes())
        self.manifest = json.loads((tts / "browser_poc_manifest.json").read_bytes())
        self.config = metadata["model_config"]
        self.codebooks = self.config["n_vq"]
        self.slot = self.config["audio_assistant_slot_token_id"]
        self.end = self.config["audio_end_token_id"]
        baked = metadata["onnx"]["fixed_sampled_frame_constants"]
        defaults = self.manifest["generation_defaults"]
        self.graph_rules = _audio_rules(baked)
        self.host_rules = _audio_rules(defaults)
        self.host_text_rules = SamplingRules(
            1.0,
            defaults["text_temperature"],
            min(2, defaults["text_top_k"]),
            defaults["text_top_p"],
        )

    def reference(self, voice: str):
        """The codes [frames, codebooks] of a voice of the manifest."""
        voices = {entry["voice"]: entry for entry in self.manifest["builtin_voices"]}
        return np.array(voices[voice]["prompt_audio_codes"])

    def prompt(self, reference, text_ids):
        """All rows of a prompt, [rows, 1 + codebooks]."""
        templates = self.manifest["prompt_templates"]
        config = self.config
        return np.array(
            [
                *map(self._text_row, templates["user_prompt_prefix_token_ids"]),
                self._text_row(config["audio_start_token_id"]),
                *([config["audio_user_slot_token_id"], *frame] for frame in reference),
                self._text_row(self.end),
                *map(self._text_row, templates["user_prompt_after_reference_token_ids"]),
                *map(self._text_row, text_ids),
                *map(self._text_row, templates["assistant_prompt_prefix_token_ids"]),
                self._text_row(config["audio_start_token_id"]),
            ]
        )

    def _text_row(self, token):
        return [token, *[self.config["audio_pad_token_id"]] * self.codebooks]

    def hidden_states(self, rows):
        """The global transformer's states of all rows, [rows, hidden]."""
        states = self._weights["transformer.wte.weight"][rows[:, 0]]
        for book in range(self.codebooks):
            codes = rows[:, 1 + book]
            used = codes != self.config["audio_pad_token_id"]
            states[used] += self._code_table(book)[codes[used]]
        config = self.config
        return self._transformed(
            states, "transformer", config["global_layers"], config["global_heads"]
        )

    def local_logits(self, hidden, token, codes):
        """What may follow a state: text logits, and per codebook so far the logits of its code.

        ``codes`` are those already chosen; len(codes) + 1 codebooks have logits.
        """
        states = np.stack(
            [
                hidden,
                self._weights["transformer.wte.weight"][token],
                *(self._code_table(book)[code] for book, code in enumerate(codes)),
            ]
        )
        config = self.config
        states = self._transformed(
            states, "local_transformer", config["local_layers"], config["local_heads"]
        )
        text_logits = self._weights["transformer.wte.weight"] @ states[0]
        return text_logits, [self._code_table(book) @ row for book, row in enumerate(states[1:])]

    def _code_table(self, book):
        return self._weights[f"audio_embeddings.{book}.weight"]

    def _transformed(self, states, stack, layers, heads):
        for layer in range(layers):
            block = f"{stack}.h.{layer}"
            joined = self._linear(self._norm(states, f"{block}.ln_1"), f"{block}.attn.c_attn")
            states = states + self._linear(attention(joined, heads), f"{block}.attn.c_proj")
            inner = self._linear(self._norm(states, f"{block}.ln_2"), f"{block}.mlp.fc_in")
            states = states + self._linear(gelu_tanh(inner), f"{block}.mlp.fc_out")
        return self._norm(states, f"{stack}.ln_f")

    def _linear(self, rows, name):
        return rows @ self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]

    def _norm(self, rows, name):
        return layer_norm(rows, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])


def _audio_rules(values):
    return SamplingRules(
        values["audio_repetition_penalty"],
        values["audio_temperature"],
        values["audio_top_k"],
        values["audio_top_p"],
    )


# --- generating -------------------------------------------------------------------------------


@dataclass
class Frame:
    """What follows a state: codes or the end (None), and whether no choice hung on rounding."""

    codes: list[int] | None
    steady: bool


class FrameMaker:
    """The three ways of choosing a frame, with the random numbers of one request.

    ``random`` is NumPy's generator, seeded once for the request, or what stands in for it.
    """

    def __init__(self, model: LanguageModel, mode: str, random) -> None:
        self._model = model
        self._mode = mode
        self._random = random
        self._steady = True

    def frame(self, hidden, seen) -> Frame:
        """The frame after a state; ``seen`` bool [codebooks, codes] of this piece's codes."""
        self._steady = True
        draws = np.zeros(1 + self._model.codebooks)
        if self._mode == "fixed":
            # all of a frame's numbers at once, of the frame that stops as well
            draws = self._random.random(1 + self._model.codebooks)
            draws = np.minimum(draws, 0.99999994).astype(np.float32).astype(np.float64)
        text_logits, _ = self._model.local_logits(hidden, self._model.slot, [])
        candidates = text_logits[[self._model.slot, self._model.end]]
        if not self._choice(candidates, self._going_on(float(draws[0]))):
            return Frame(None, self._steady)
        codes: list[int] = []
        for book in range(self._model.codebooks):
            _, logits = self._model.local_logits(hidden, self._model.slot, codes)
            rule = self._code_rule(seen[book], float(draws[1 + book]))
            codes.append(self._choice(logits[book], rule))
        return Frame(codes, self._steady)

    def _choice(self, logits, rule: Callable):
        choice = rule(logits)
        for wobble in _WOBBLES[:, : len(logits)]:
            self._steady = self._steady and rule(logits + wobble) == choice
        return choice

    def _going_on(self, draw: float) -> Callable:
        if self._mode == "fixed":
            return lambda candidates: draw <= softmax(candidates)[0]
        if self._mode == "greedy":
            return lambda candidates: candidates[0] >= candidates[1]
        rules, nothing, number = self._model.host_text_rules, [False, False], self._random.random()
        return lambda candidates: drawn_by_host(candidates, nothing, rules, number) == 0

    def _code_rule(self, seen, draw: float) -> Callable:
        model = self._model
        if self._mode == "fixed":
            return lambda logits: drawn_by_graph(logits, seen, model.graph_rules, draw)
        if self._mode == "greedy":
            return lambda logits: most_likely(logits, seen, model.host_rules.penalty)
        number = self._random.random()
        return lambda logits: drawn_by_host(logits, seen, model.host_rules, number)


def piece_of_speech(model: LanguageModel, maker: FrameMaker, reference, text_ids) -> list[Frame]:
    """Frames of one piece of text, the stopping one last; without it the cap was reached."""
    rows = model.prompt(reference, text_ids)
    seen = np.zeros((model.codebooks, max(model.config["audio_codebook_sizes"])), dtype=bool)
    cap = model.manifest["moss_nano"]["cap"]
    frames: list[Frame] = []
    for _ in range(math.ceil(cap["base"] + cap["per_token"] * len(text_ids))):
        frame = maker.frame(model.hidden_states(rows)[-1], seen)
        frames.append(frame)
        if frame.codes is None:
            break
        seen[np.arange(model.codebooks), frame.codes] = True
        rows = np.concatenate([rows, [[model.slot, *frame.codes]]])
    return frames
