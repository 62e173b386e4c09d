"""Measure what it costs to read 1,000 characters of text, by language and by step.

Usage: python benchmarks/text_cost.py [--characters N] [--runs N]
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import wyoming_moss_nano.embedded
from wyoming_moss_nano.model.bundle import read_bundle
from wyoming_moss_nano.model.tokenizer import TextTokenizer
from wyoming_moss_nano.text.reading import Reading
from wyoming_moss_nano.text.stream import PieceStream, clean_text

REPLY = """\
## The **house** today

- Living room: 21.5 °C, 45% humidity, CO2 at 800 ppm
- Washer: 1.2 kWh, done at 14:35 on 2024-12-24 :-)

Dr. Smith called at 6 p.m.; the rate is €0.25/kWh. See [the log](https://example.com/log).
Everything else is as it should be, and I will tell you when that changes.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--characters", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    bundle = read_bundle(Path(wyoming_moss_nano.embedded.__file__).parent)
    count = TextTokenizer(bundle).count
    text = (REPLY * (options.characters // len(REPLY) + 1))[: options.characters]

    def all_of_it(reading: Reading, size: int) -> Callable[[], object]:
        def read() -> object:
            stream = PieceStream(reading, count, bundle.rules.max_text_tokens)
            return [*(p for i in range(0, len(text), size) for p in stream.add(text[i : i + size]))]

        return read

    cases: dict[str, Callable[[], object]] = {"clean": lambda: clean_text(text, Reading())}
    cases["clean and cut"] = all_of_it(Reading(), len(text))
    for language in ("en", "de", "fr", "es", "it", "nl", "pt", "zh"):
        cases[f"clean, speak {language}, cut"] = all_of_it(Reading(language), len(text))
    cases["the same in en, 3 characters at a time"] = all_of_it(Reading("en"), 3)
    for name, case in cases.items():
        case()  # rules are made on first use
        seconds = statistics.median(timed(case) for _ in range(options.runs))
        print(f"{name:40} {1000 * seconds * 1000 / len(text):6.2f} ms per 1,000 characters")


def timed(case: Callable[[], object]) -> float:
    started = time.thread_time()
    case()
    return time.thread_time() - started


if __name__ == "__main__":
    main()
