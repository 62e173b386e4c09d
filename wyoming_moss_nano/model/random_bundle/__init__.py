"""A complete bundle of any size with random weights, for tests and benchmarks.

It has the 18 files of the published bundle, their metadata and the inputs and outputs of their
graphs, and none of their weights. The small one stops by itself; see `stopping`.
"""

from .bundle import build_random_bundle
from .habits import EXPORTER, PLAIN, GraphHabits
from .size import OFFICIAL, TINY, BundleSize, CodecStage

__all__ = [
    "EXPORTER",
    "OFFICIAL",
    "PLAIN",
    "TINY",
    "BundleSize",
    "CodecStage",
    "GraphHabits",
    "build_random_bundle",
]
