import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
import sentencepiece

from wyoming_moss_nano.model.random_bundle import EXPORTER, build_random_bundle

TEMPERATURE, TOP_K, TOP_P, PENALTY = 0.8, 25, 0.95, 1.2
LARGEST_DRAW = np.float32(0.99999994)


def softmax(values):
    powers = np.exp(values - values.max())
    return powers / powers.sum()


@dataclass
class Bundle:
    """The sessions of a bundle and the few steps from a text to frames."""

    directory: Path

    def __post_init__(self):
        self.tts = self.directory / "MOSS-TTS-Nano-100M-ONNX"
        self.codec = self.directory / "MOSS-Audio-Tokenizer-Nano-ONNX"
        self.meta = json.loads((self.tts / "tts_browser_onnx_meta.json").read_bytes())
        self.codec_meta = json.loads((self.codec / "codec_browser_onnx_meta.json").read_bytes())
        self.manifest = json.loads((self.tts / "browser_poc_manifest.json").read_bytes())
        self.config = self.meta["model_config"]
        self.tokenizer = sentencepiece.SentencePieceProcessor(
            model_file=str(self.tts / "tokenizer.model")
        )
        self.sessions = {role: self.session(path) for role, path in self.graphs()}

    def graphs(self) -> Iterator[tuple[str, Path]]:
        for role, file in self.meta["files"].items():
            yield role, self.tts / file
        for role, file in self.codec_meta["files"].items():
            yield f"codec_{role}", self.codec / file

    def session(self, path):
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def run(self, role, feeds):
        session = self.sessions[role]
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(None, feeds), strict=True))

    def voice(self, index):
        return self.manifest["builtin_voices"][index]["prompt_audio_codes"]

    def rows(self, text, voice):
        templates = self.manifest["prompt_templates"]
        pad = self.config["audio_pad_token_id"]
        before = [*templates["user_prompt_prefix_token_ids"], self.config["audio_start_token_id"]]
        after = [
            self.config["audio_end_token_id"],
            *templates["user_prompt_after_reference_token_ids"],
            *text,
            *templates["assistant_prompt_prefix_token_ids"],
            self.config["audio_start_token_id"],
        ]
        empty = [pad] * self.config["n_vq"]
        slot = self.config["audio_user_slot_token_id"]
        rows = [[token, *empty] for token in before]
        rows += [[slot, *codes] for codes in voice]
        rows += [[token, *empty] for token in after]
        return np.array([rows], np.int32)

    def prefill(self, rows):
        return self.run(
            "prefill", {"input_ids": rows, "attention_mask": np.ones(rows.shape[:2], np.int32)}
        )

    def step(self, row, before, length):
        feeds = {name.replace("present", "past"): value for name, value in before.items()}
        del feeds["global_hidden"]
        lengths = np.array([length], np.int32)
        return self.run("decode_step", {"input_ids": row, "past_valid_lengths": lengths, **feeds})

    def frames(self, text, voice, mode, seed=0, limit=500):
        """The frames of a text (ids) in a voice (codes) until the model stops."""
        rows = self.rows(text, voice)
        state, length = self.prefill(rows), rows.shape[1]
        shape = (1, self.config["n_vq"], self.config["audio_codebook_sizes"][0])
        seen = np.zeros(shape, np.int32)
        generator = np.random.default_rng(seed)
        local = {"greedy": self.greedy_frame, "fixed": self.fixed_frame, "full": self.full_frame}
        frames = []
        while len(frames) < limit:
            hidden = state["global_hidden"][:, -1]
            frame = local[mode](hidden, seen, generator)
            if frame is None:
                break
            frames.append(frame)
            seen[0, range(shape[1]), frame] = 1
            row = [[[self.config["audio_assistant_slot_token_id"], *frame]]]
            state = self.step(np.array(row, np.int32), state, length)
            length += 1
        return frames

    def fixed_frame(self, hidden, seen, generator):
        draws = np.minimum(generator.random(1 + seen.shape[1]), LARGEST_DRAW).astype(np.float32)
        result = self.fixed(hidden, seen, draws[:1], draws[None, 1:])
        return result["frame_token_ids"][0].tolist() if result["should_continue"][0, 0] else None

    def fixed(self, hidden, seen, text_draw, audio_draws):
        return self.run(
            "local_fixed_sampled_frame",
            {
                "global_hidden": hidden,
                "repetition_seen_mask": seen,
                "assistant_random_u": text_draw,
                "audio_random_u": audio_draws,
            },
        )

    def greedy_frame(self, hidden, seen, _generator):
        return self.cached_frame(
            hidden,
            lambda two: two[0] >= two[1],
            lambda book, logits: int(np.argmax(penalised(logits, seen[0, book]))),
        )

    def full_frame(self, hidden, seen, generator):
        return self.cached_frame(
            hidden,
            lambda two: generator.random() <= softmax(two.astype(np.float64))[0],
            lambda book, logits: sampled(penalised(logits, seen[0, book]), generator.random()),
        )

    def cached_frame(self, hidden, goes_on, choose):
        heads, width = self.config["local_heads"], self.config["local_head_dim"]
        past = np.zeros((1, 0, heads, width), np.float32)
        cache = {"local_past_key_0": past, "local_past_value_0": past}
        slot, end = (self.config[f"audio_{name}_token_id"] for name in ("assistant_slot", "end"))
        result, cache = self.local_step(hidden, cache, 0, kind=0)
        if not goes_on(result["text_logits"][0, [slot, end]]):
            return None
        result, cache = self.local_step(hidden, cache, 1, kind=1, text=slot)
        frame = [choose(0, result["audio_logits"][0, 0])]
        for book in range(1, self.config["n_vq"]):
            result, cache = self.local_step(
                hidden, cache, book + 1, kind=2, code=frame[-1], book=book - 1
            )
            frame.append(choose(book, result["audio_logits"][0, book]))
        return frame

    def local_step(self, hidden, cache, length, *, kind, text=0, code=0, book=0):
        scalars = {
            "text_token_id": text,
            "audio_token_id": code,
            "channel_index": book,
            "step_type": kind,
            "past_valid_lengths": length,
        }
        feeds = {name: np.array([value], np.int32) for name, value in scalars.items()}
        result = self.run("local_cached_step", {"global_hidden": hidden, **feeds, **cache})
        return result, {name: result[name.replace("past", "present")] for name in cache}

    def decode(self, frames):
        codes = np.array([frames], np.int32)
        lengths = np.array([len(frames)], np.int32)
        result = self.run(
            "codec_decode_full", {"audio_codes": codes, "audio_code_lengths": lengths}
        )
        return result["audio"][0]


def penalised(logits, seen):
    weaker = np.where(logits < 0, logits * PENALTY, logits / PENALTY)
    return np.where(seen != 0, weaker, logits)


def sampled(logits, draw):
    """Temperature, top-k, top-p and a draw, as the fixed graph has them."""
    scores = logits / np.float32(TEMPERATURE)
    order = np.argsort(-scores, kind="stable")[:TOP_K]
    chances = softmax(scores[order])
    before = np.cumsum(chances) - chances
    kept = np.where(before < TOP_P, scores[order], -np.inf)
    reached = np.cumsum(softmax(kept))
    return int(order[min(np.sum(reached < min(draw, LARGEST_DRAW)), TOP_K - 1)])


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return Bundle(build_random_bundle(tmp_path_factory.mktemp("plain")))


@pytest.fixture(scope="session")
def exported(tmp_path_factory):
    directory = tmp_path_factory.mktemp("exporter")
    return Bundle(build_random_bundle(directory, habits=EXPORTER))
