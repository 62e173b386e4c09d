"""Compares our engine with the publisher's own runtime, frame for frame.

Given a checkout of the publisher's repository (OpenMOSS/MOSS-TTS-Nano), its `ort_cpu_runtime.py`
and our engine run on the same bundle, with the same prompts and the same seeds, in greedy, fixed
and full mode. Without --bundle, a tiny random bundle is built into a temporary folder.

Requests alternate between texts of one piece and of two, and between voices; in a request of two
pieces the random numbers of the second go on where the first left off. Both sides get the same
token ids and the same limit on the frames of a piece. Our engine's cap on the length of a text
belongs to us, not to the publisher: it is lifted here, so that every piece has to end alike on
both sides, whether the model stopped or the limit was reached. Requests are added until every
mode has the frames asked for.

The publisher's frames are then decoded by both, at once and as a stream, and the sound is
compared before our engine shortens, amplifies or limits anything.

The last line starts with "equal:" and the exit code is 0 if all frames are equal and the sound
differs by at most 1e-4; otherwise it starts with "different:" and the code is 1. The code is 2
where nothing could be compared.
"""

import argparse
import importlib.util
import itertools
import json
import logging
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnxruntime

from wyoming_moss_nano.embedded import REFERENCES_FOLDER
from wyoming_moss_nano.engine.codec import Codec
from wyoming_moss_nano.engine.language import exact_language
from wyoming_moss_nano.engine.local import SAMPLE_MODES
from wyoming_moss_nano.engine.prompt import Codes, PromptLayout
from wyoming_moss_nano.engine.sampling import FloatArray, RandomStream
from wyoming_moss_nano.errors import MossNanoError
from wyoming_moss_nano.model.bundle import Bundle, read_bundle
from wyoming_moss_nano.model.random_bundle import build_random_bundle
from wyoming_moss_nano.model.sessions import Sessions
from wyoming_moss_nano.model.tokenizer import TextTokenizer
from wyoming_moss_nano.voices.store import VoiceStore

MODES = tuple(sorted(SAMPLE_MODES, key=["greedy", "fixed", "full"].index))
LARGEST_PCM_DIFFERENCE = 1e-4
BUNDLE_SEED = 0  # of the random bundle built here
FIRST_SEED = 1234
MOST_FRAMES = 50  # of a piece
MOST_SILENT_REQUESTS = 50  # in a row
STREAM_GROUPS = (1, 2, 4, 8)  # frames per call of the streaming codec, in turn

# Each is a request: its pieces, said one after the other.
TEXTS = (
    ("Good morning.",),
    ("The kettle is on.", "It will boil in a minute."),
    ("No.",),
    ("When the rain had stopped, they walked down to the harbour and counted the boats.",),
    ("Yes.", "Is anybody there?"),
    ("Three, two, one!",),
    ("An apple a day keeps the doctor away, or so they say.",),
)

# Recorded for the tests: (text of TEXTS, place of the voice, seed). Greedy frames ignore the seed.
RECORDED = {
    "greedy": ((0, 0, 0), (2, 1, 0), (4, 2, 0)),
    "fixed": ((0, 0, 1), (2, 1, 2), (4, 2, 3)),
    "full": ((0, 1, 4), (2, 2, 5), (4, 0, 6)),
}
RECORDED_MOST_FRAMES = 24  # the shortest pieces stop before


@dataclass(frozen=True)
class Request:
    """What both sides are asked for: pieces as texts and as token ids."""

    text: int
    pieces: tuple[str, ...]
    ids: tuple[list[int], ...]
    voice: str
    reference: Codes
    seed: int


@dataclass
class Tally:
    """What was compared in one mode, and the first difference."""

    mode: str
    wanted: int
    requests: int = 0
    pieces: int = 0
    stopped: int = 0
    frames: int = 0
    silent_requests: int = 0
    full_pcm: float = 0.0
    streamed_pcm: float = 0.0
    difference: str = ""

    @property
    def done(self) -> bool:
        """Whether there is enough, or no more to be had."""
        enough = self.frames >= self.wanted or self.silent_requests >= MOST_SILENT_REQUESTS
        return bool(self.difference) or enough

    @property
    def equal(self) -> bool:
        """Whether enough frames were compared and everything agreed."""
        pcm = max(self.full_pcm, self.streamed_pcm)
        return not self.difference and self.frames >= self.wanted and pcm <= LARGEST_PCM_DIFFERENCE


class Publisher:
    """The publisher's runtime in one sampling mode."""

    def __init__(
        self, module: ModuleType, bundle: Bundle, mode: str, threads: int, most_frames: int
    ) -> None:
        self._runtime: Any = module.OrtCpuRuntime(
            bundle.directory,
            thread_count=threads,
            max_new_frames=most_frames,
            do_sample=mode != "greedy",
            sample_mode=mode,
        )
        self.most_frames = most_frames
        self._n_vq = bundle.config.n_vq

    def prompt(self, reference: Codes, ids: list[int]) -> Any:
        """Return the prompt of a piece: its rows and their mask."""
        return self._runtime.build_voice_clone_request_rows(reference.tolist(), ids)

    def speak(self, request: Request) -> list[Codes]:
        """Return the codes [frames, codebooks] of each piece; one random stream for all."""
        self._runtime.rng = np.random.default_rng(request.seed)
        pieces = []
        for ids in request.ids:
            frames = self._runtime.generate_audio_frames(self.prompt(request.reference, ids))
            pieces.append(np.array(frames, dtype=np.int32).reshape(-1, self._n_vq))
        return pieces

    def decode(self, codes: Codes) -> FloatArray:
        """Return the sound [channels, samples] of codes decoded at once."""
        channels, _ = self._runtime.decode_full_audio(codes.tolist())
        return np.stack(channels)

    def stream(self, codes: Codes) -> FloatArray:
        """Return the sound [channels, samples] of codes decoded in groups."""
        session = self._runtime.codec_streaming_session
        session.reset()
        outputs = [session.run_frames(group.tolist()) for group in stream_groups(codes)]
        return np.concatenate([audio[0, :, :samples] for audio, samples in outputs], axis=1)


class Ours:
    """Our engine in one sampling mode."""

    def __init__(self, bundle: Bundle, sessions: Sessions, mode: str, most_frames: int) -> None:
        # the cap is never below its base
        patient = replace(bundle, rules=replace(bundle.rules, cap_base=most_frames))
        self._generator = exact_language(patient, sessions).generator(patient)
        self._mode = mode
        self._most_frames = most_frames
        self._layout = PromptLayout.of(bundle)
        self._codec = Codec(bundle, sessions)

    def prompt(self, reference: Codes, ids: list[int]) -> Codes:
        """Return the prompt of a piece [rows, codebooks + 1]."""
        return self._layout.prompt(reference, ids)

    def speak(self, request: Request) -> list[Codes]:
        """Return the codes [frames, codebooks] of each piece; one random stream for all."""
        stream = RandomStream(request.seed)
        pieces = []
        for ids in request.ids:
            piece = self._generator.open(
                request.reference,
                ids,
                sample_mode=self._mode,
                stream=stream,
                max_frames=self._most_frames,
            )
            frames = []
            while (frame := self._generator.next_frames([piece])[0]) is not None:
                frames.append(frame)
            self._generator.close(piece)
            pieces.append(np.array(frames, dtype=np.int32).reshape(-1, self._layout.codebooks))
        return pieces

    def decode(self, codes: Codes) -> FloatArray:
        """Return the sound [channels, samples] of codes decoded at once."""
        return self._codec.decode(codes)

    def stream(self, codes: Codes) -> FloatArray:
        """Return the sound [channels, samples] of codes decoded in groups."""
        decoder = self._codec.stream()
        return np.concatenate([decoder.decode(group) for group in stream_groups(codes)], axis=1)


def stream_groups(codes: Codes) -> Iterator[Codes]:
    """Cut codes [frames, codebooks] into STREAM_GROUPS, over and over."""
    start = 0
    for size in itertools.cycle(STREAM_GROUPS):
        if start >= len(codes):
            return
        yield codes[start : start + size]
        start += size


def endless_requests(bundle: Bundle, voices: Mapping[str, Codes]) -> Iterator[Request]:
    """Yield requests: every text with every voice, then again with longer texts."""
    tokenizer = TextTokenizer(bundle)
    for number in itertools.count():
        lap, text = divmod(number, len(TEXTS))
        again = " again" * (lap // len(voices))
        pieces = tuple(piece + again for piece in TEXTS[text])
        voice = list(voices)[(number + lap) % len(voices)]
        yield request_of(tokenizer, voices, text, pieces, voice, FIRST_SEED + number)


def request_of(
    tokenizer: TextTokenizer,
    voices: Mapping[str, Codes],
    text: int,
    pieces: tuple[str, ...],
    voice: str,
    seed: int,
) -> Request:
    ids = tuple(tokenizer.encode(piece).ids for piece in pieces)
    return Request(text, pieces, ids, voice, voices[voice], seed)


def first_difference(ours: Codes, theirs: Codes) -> str:
    """Say where codes [frames, codebooks] differ first; "" where they are equal."""
    common = min(len(ours), len(theirs))
    unequal = np.argwhere(ours[:common] != theirs[:common])
    if len(unequal):
        frame, codebook = unequal[0]
        codes = f"ours {ours[frame, codebook]}, theirs {theirs[frame, codebook]}"
        return f"frame {frame}, codebook {codebook}: {codes}"
    if len(ours) != len(theirs):
        return f"frame {common}: ours has {len(ours)} frames, theirs {len(theirs)}"
    return ""


def largest_difference(ours: FloatArray, theirs: FloatArray) -> float:
    """Return how far two sounds [channels, samples] are apart; infinity for unequal shapes."""
    if ours.shape != theirs.shape:
        return float("inf")
    return float(np.abs(ours - theirs).max(initial=0.0))


def compare_request(request: Request, ours: Ours, publisher: Publisher, tally: Tally) -> None:
    """Let both sides speak a request and enter the result in the tally."""
    tally.requests += 1
    frames_before = tally.frames
    made = zip(request.ids, ours.speak(request), publisher.speak(request), strict=True)
    for number, (ids, mine, theirs) in enumerate(made):
        rows = publisher.prompt(request.reference, ids)["inputIds"]
        where = f"{tally.mode}, voice {request.voice}, text {request.text}, seed {request.seed}, "
        if not np.array_equal(ours.prompt(request.reference, ids), rows):
            tally.difference = f"{where}piece {number}, prompt rows"
            return
        if difference := first_difference(mine, theirs):
            tally.difference = f"{where}piece {number}, {difference}"
            return
        tally.pieces += 1
        tally.stopped += len(theirs) < publisher.most_frames
        tally.frames += len(theirs)
        if len(theirs):
            compare_sound(theirs, ours, publisher, tally)
    silent = tally.frames == frames_before
    tally.silent_requests = tally.silent_requests + 1 if silent else 0


def compare_sound(codes: Codes, ours: Ours, publisher: Publisher, tally: Tally) -> None:
    """Decode the same codes on both sides, at once and as a stream."""
    full = largest_difference(ours.decode(codes), publisher.decode(codes))
    streamed = largest_difference(ours.stream(codes), publisher.stream(codes))
    tally.full_pcm = max(tally.full_pcm, full)
    tally.streamed_pcm = max(tally.streamed_pcm, streamed)


def compare(module: ModuleType, bundle: Bundle, frames: int, threads: int) -> list[Tally]:
    """Compare all modes on a bundle, printing a line for each."""
    sessions = Sessions(bundle, threads)
    voices = voices_of(bundle, sessions)
    # short runs get short pieces, so that they see more than one of them
    most_frames = max(8, min(MOST_FRAMES, frames // 6))
    tallies = []
    for mode in MODES:
        ours = Ours(bundle, sessions, mode, most_frames)
        publisher = Publisher(module, bundle, mode, threads, most_frames)
        tally = Tally(mode, frames)
        requests = endless_requests(bundle, voices)
        while not tally.done:
            compare_request(next(requests), ours, publisher, tally)
        tallies.append(tally)
        print(
            f"{mode}: {tally.frames} frames, {tally.pieces} pieces of {tally.requests} requests, "
            f"{tally.stopped} stopped by the model; {pcm_text([tally])}"
        )
    return tallies


def voices_of(bundle: Bundle, sessions: Sessions) -> Mapping[str, Codes]:
    """Return voices of a bundle: its own, else the synthetic references encoded by its codec."""
    if bundle.builtin_voices:
        return bundle.builtin_voices
    store = VoiceStore(bundle, Codec(bundle, sessions), REFERENCES_FOLDER)
    return {name: store.get(name).codes for name in store.names()}


def pcm_text(tallies: Sequence[Tally]) -> str:
    full = max(tally.full_pcm for tally in tallies)
    streamed = max(tally.streamed_pcm for tally in tallies)
    return f"largest PCM difference {full:.1e} (full) {streamed:.1e} (streamed)"


def report(tallies: Sequence[Tally]) -> bool:
    """Print what differs and the last line; return whether all is equal."""
    for tally in tallies:
        if tally.difference:
            print(f"first difference: {tally.difference}")
        elif tally.frames < tally.wanted:
            print(f"{tally.mode}: too few frames, the model stopped at once over and over")
    equal = all(tally.equal for tally in tallies)
    counts = ", ".join(f"{tally.mode} {tally.frames}" for tally in tallies)
    print(f"{'equal' if equal else 'different'}: {counts} frames; {pcm_text(tallies)}")
    return equal


def record(module: ModuleType, bundle: Bundle, folder: Path, threads: int) -> None:
    """Write frames of the publisher's runtime on the tiny bundle, a JSON file for each mode."""
    tokenizer = TextTokenizer(bundle)
    voices = bundle.builtin_voices
    folder.mkdir(parents=True, exist_ok=True)
    for mode, cases in RECORDED.items():
        publisher = Publisher(module, bundle, mode, threads, RECORDED_MOST_FRAMES)
        lines = []
        for text, place, seed in cases:
            voice = list(voices)[place]
            request = request_of(tokenizer, voices, text, TEXTS[text], voice, seed)
            frames = [piece.tolist() for piece in publisher.speak(request)]
            case = {"voice": voice, "seed": seed, "pieces": request.pieces, "frames": frames}
            lines.append(json.dumps(case, separators=(",", ":")))
        head = {
            "mode": mode,
            "bundle_seed": BUNDLE_SEED,
            "bundle_id": bundle.bundle_id,
            "max_frames": RECORDED_MOST_FRAMES,
        }
        opening = json.dumps(head)[:-1]
        content = f'{opening}, "cases": [\n' + ",\n".join(lines) + "\n]}\n"
        (folder / f"{mode}.json").write_text(content, encoding="utf-8")
        print(f"recorded {len(cases)} requests: {mode}.json")


def load_publisher(checkout: Path) -> ModuleType:
    """Import the runtime of a checkout, and nothing else of it.

    Raises:
        FileNotFoundError: it is not there.
    """
    path = checkout / "ort_cpu_runtime.py"
    spec = importlib.util.spec_from_file_location("publisher_ort_cpu_runtime", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise FileNotFoundError(
            f"{path} is missing: --publisher wants a checkout of OpenMOSS/MOSS-TTS-Nano"
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare with the publisher's runtime.")
    parser.add_argument("--publisher", type=Path, required=True, metavar="DIR")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--bundle", type=Path, metavar="DIR", help="default: a tiny random one")
    where.add_argument(
        "--record",
        type=Path,
        metavar="DIR",
        help="write the publisher's frames on the tiny bundle for the tests instead",
    )
    parser.add_argument("--frames", type=int, default=300, help="to compare in each mode at least")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def run(arguments: argparse.Namespace, module: ModuleType, folder: Path) -> int:
    bundle = read_bundle(folder)
    print(
        f"{bundle.rules.kind} bundle {bundle.bundle_id}, NumPy {np.__version__}, "
        f"ONNX Runtime {onnxruntime.__version__}, threads: {arguments.threads}"
    )
    if arguments.record:
        record(module, bundle, arguments.record, arguments.threads)
        return 0
    return 0 if report(compare(module, bundle, arguments.frames, arguments.threads)) else 1


def main() -> int:
    arguments = parse_arguments()
    # both sides reach the limit on frames often; that is no news here
    logging.getLogger("wyoming_moss_nano").setLevel(logging.ERROR)
    try:
        module = load_publisher(arguments.publisher)
        if arguments.bundle:
            return run(arguments, module, arguments.bundle)
        with tempfile.TemporaryDirectory() as folder:
            bundle = build_random_bundle(Path(folder), seed=BUNDLE_SEED)
            return run(arguments, module, bundle)
    except (MossNanoError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
