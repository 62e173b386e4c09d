"""How graphs call their weights and reach them."""

from dataclasses import dataclass
from typing import Protocol

from .nodes import Graph, Namer
from .tensors import Role, Tensor

_LINEAR = frozenset({Role.INNER, Role.CLOSING, Role.TIED_HEAD, Role.CODEC_LINEAR})
# Where the numbers of folded weights begin and how far apart they are; any would do.
_FIRST_NUMBER = 2051
_NUMBER_STEP = 7


class GraphHabits(Protocol):
    """A way of writing graphs; chosen once for a whole bundle."""

    def namer(self, prefix: str) -> Namer:
        """A namer for one graph whose module tree hangs below the prefix."""


@dataclass(frozen=True)
class PlainHabits:
    """Every weight is one initializer under its own name."""

    def namer(self, prefix: str) -> Namer:  # noqa: ARG002 - the prefix is the exporter's habit
        """A namer that has nothing to remember."""
        return _PlainNamer()


@dataclass(frozen=True)
class ExporterHabits:
    """What PyTorch's tracing exporter makes of a module.

    Linear weights lose their names to `onnx::MatMul_<number>`, a new number at every use.
    Equal weights are merged and reached through Identity nodes. Other names keep the path of
    the module they belong to.
    """

    def namer(self, prefix: str) -> Namer:
        """A namer that remembers which weights its graph already holds."""
        return _ExporterNamer(prefix)


PLAIN = PlainHabits()
EXPORTER = ExporterHabits()


class _PlainNamer:
    def weight(self, graph: Graph, tensor: Tensor) -> str:
        return graph.weight_as(tensor.name, tensor.name)

    def bias_first(self) -> bool:
        return False


class _ExporterNamer:
    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._number = _FIRST_NUMBER
        self._linear: dict[str, str] = {}
        self._norms: dict[str, str] = {}
        self._last_norm = ""

    def weight(self, graph: Graph, tensor: Tensor) -> str:
        if tensor.role in _LINEAR:
            return self._folded(graph, tensor)
        if tensor.role is Role.NORM_WEIGHT:
            return self._merged(graph, tensor)
        return graph.weight_as(tensor.name, self._prefix + tensor.name)

    def bias_first(self) -> bool:
        return True

    def _folded(self, graph: Graph, tensor: Tensor) -> str:
        called = f"onnx::MatMul_{self._number}"
        self._number += _NUMBER_STEP
        if tensor.name in self._linear:
            return graph.append("Identity", [self._linear[tensor.name]], called)
        self._linear[tensor.name] = called
        return graph.weight_as(tensor.name, called)

    def _merged(self, graph: Graph, tensor: Tensor) -> str:
        # Each alias hangs on the one before, so that readers meet chains and not only links.
        if tensor.name not in self._norms:
            called = self._prefix + tensor.name
            if self._last_norm:
                graph.append("Identity", [self._last_norm], called)
            else:
                graph.weight_as(tensor.name, called)
            self._norms[tensor.name] = self._last_norm = called
        return self._norms[tensor.name]
