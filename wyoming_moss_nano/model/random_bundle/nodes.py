"""Graphs that reach their weights as a bundle's habits have it."""

from typing import Protocol

from ..graph_writer import GraphWriter
from .tensors import Tensor
from .weights import WeightFile


class Namer(Protocol):
    """How a graph calls and reaches its weights."""

    def weight(self, graph: "Graph", tensor: Tensor) -> str:
        """The value name by which a node reads a weight; adds what it takes to the graph."""

    def bias_first(self) -> bool:
        """Whether a linear layer adds its product to the bias or the bias to its product."""


class Graph(GraphWriter):
    """One graph of a bundle in the making."""

    def __init__(self, name: str, weights: WeightFile, namer: Namer) -> None:
        super().__init__(name)
        self._weights = weights
        self._namer = namer

    def weight(self, name: str) -> str:
        """The value of a weight, reached as the namer has it."""
        return self._namer.weight(self, self._weights.tensor(name))

    def weight_as(self, name: str, called: str) -> str:
        """A weight's initializer under the name the graph calls it by, added when new."""
        return self.initializer(self._weights.proto(name, called))

    def linear(self, value: str, name: str) -> str:
        """`value @ weight + bias` with the weights name.weight and name.bias."""
        product = self.op("MatMul", value, self.weight(f"{name}.weight"))
        bias = self.weight(f"{name}.bias")
        if self._namer.bias_first():
            return self.op("Add", bias, product)
        return self.op("Add", product, bias)

    def project(self, value: str, name: str) -> str:
        """`value @ weight` with the weight name.weight."""
        return self.op("MatMul", value, self.weight(f"{name}.weight"))

    def norm(self, value: str, name: str) -> str:
        """LayerNorm over the last axis with the weights name.weight and name.bias."""
        scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.op("LayerNormalization", value, scale, bias, axis=-1, epsilon=1e-5)
