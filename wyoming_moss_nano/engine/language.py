"""The language model in each of its precisions, put together."""

from dataclasses import dataclass
from typing import Any, Final

from ..model.bundle import Bundle
from ..model.compiled import Compiled, CompiledSessions
from ..model.sessions import Sessions
from .compiled import CompiledSamplers, CompiledTransformer
from .exact import ExactTransformer
from .generator import Generator, Transformer
from .local import FrameSamplers, PublishedSamplers

# More rows than this in one call cost nearly as much as calls of their own would.
_MOST_TOGETHER: Final = 8


@dataclass(frozen=True)
class LanguageModel:
    """What makes frames, under the name of its precision.

    ``most_together`` pieces may share a step; one where sharing saves nothing.
    """

    precision: str
    transformer: Transformer[Any]
    samplers: FrameSamplers
    most_together: int

    def generator(self, bundle: Bundle) -> Generator[Any]:
        """Return what makes frames by the rules of a bundle."""
        return Generator(bundle, self.transformer, self.samplers)


def exact_language(bundle: Bundle, sessions: Sessions) -> LanguageModel:
    """Return the language model of the published graphs."""
    transformer = ExactTransformer(bundle, sessions)
    return LanguageModel("exact", transformer, PublishedSamplers(bundle, sessions), 1)


def compiled_language(
    bundle: Bundle, sessions: Sessions, compiled: Compiled, threads: int
) -> LanguageModel:
    """Return the language model of compiled graphs; the published ones choose in full mode."""
    graphs = CompiledSessions(compiled, threads)
    transformer = CompiledTransformer(bundle, graphs)
    samplers = CompiledSamplers(PublishedSamplers(bundle, sessions), graphs)
    return LanguageModel(compiled.precision, transformer, samplers, _MOST_TOGETHER)
