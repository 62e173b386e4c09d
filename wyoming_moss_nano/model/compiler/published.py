"""One published graph, looked at by structure: names differ between versions of its exporter."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, external_data_helper, numpy_helper

from ..compiled import CannotCompileError
from .weights import Linear, Norm, Values

_MATRIX: Final = 2  # dimensions
_NORM_INPUTS: Final = 3  # values, scale and bias


@dataclass(frozen=True)
class Product:
    """A MatMul with a weight. ``bias`` is empty where nothing is added to it."""

    weight: str
    bias: str


@dataclass(frozen=True)
class Lookup:
    """A Gather from an embedding, and the columns of the graph's rows its ids come from."""

    table: str
    columns: frozenset[int]


class PublishedGraph:
    """The nodes and weights of one .onnx file; weights stay on disk until they are read.

    Raises:
        CannotCompileError: it cannot be read as an ONNX graph.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._graph = onnx.load(str(path), load_external_data=False).graph
        except Exception as error:  # protobuf's and onnx's errors have no common base
            raise CannotCompileError(f"{path} cannot be read: {error}") from error
        self._stored = {tensor.name: tensor for tensor in self._graph.initializer}
        self._producers = {name: node for node in self._graph.node for name in node.output}
        for node in self._graph.node:
            if node.op_type == "Constant":
                self._stored[node.output[0]] = _constant(node)

    def refuse(self, what: str) -> CannotCompileError:
        """Return the error that this graph is not built as expected."""
        return CannotCompileError(f"{self._path.name} cannot be compiled: {what}")

    def norms(self) -> list[Norm]:
        """Return the LayerNorms in the order of the residual stream."""
        nodes = list(self._nodes("LayerNormalization"))
        if any(len(node.input) != _NORM_INPUTS for node in nodes):
            raise self.refuse("a norm has no bias")
        return [
            Norm(self.values(node.input[1]), self.values(node.input[2]), _epsilon(node))
            for node in nodes
        ]

    def products(self) -> list[Product]:
        """Return the products with weights in graph order, each with the bias added to it."""
        if any(self._weight(name) for node in self._nodes("Gemm") for name in node.input[:2]):
            raise self.refuse("its linear layers are Gemm nodes, not MatMul and Add")
        biases = self._biases()
        return [
            Product(weight, biases.get(node.output[0], ""))
            for node in self._nodes("MatMul")
            if (weight := self._weight(node.input[1]))
        ]

    def linear(self, product: Product) -> Linear:
        """Return the arrays of a product that has a bias."""
        if not product.bias:
            raise self.refuse(f"nothing is added to the product with {product.weight}")
        return Linear(self.values(product.weight), self.values(product.bias))

    def lookups(self, rows: str = "") -> list[Lookup]:
        """Return the embeddings read, in graph order.

        Args:
            rows: the input [batch, rows, columns] whose columns are ids, if there is one.
        """
        return [
            Lookup(table, frozenset(self._columns(node.input[1], rows)))
            for node in self._nodes("Gather")
            if (table := self._weight(node.input[0])) and not self._axis(node)
        ]

    def values(self, name: str) -> Values:
        """Return the float32 array of a stored value, mapped from disk where it lies outside."""
        stored = self._stored.get(self._source(name))
        if stored is None:
            raise self.refuse(f"{name} is computed, where a weight was expected")
        if stored.data_type != TensorProto.FLOAT:
            raise self.refuse(f"{stored.name} is not float32")
        if not external_data_helper.uses_external_data(stored):
            return np.asarray(numpy_helper.to_array(stored), dtype=np.float32)
        return self._mapped(stored)

    def _mapped(self, stored: TensorProto) -> Values:
        entries = {entry.key: entry.value for entry in stored.external_data}
        data = self._path.parent / entries.get("location", "")
        try:
            return np.memmap(
                data,
                dtype="<f4",
                mode="r",
                offset=int(entries.get("offset", "0")),
                shape=tuple(stored.dims),
            )
        except (OSError, ValueError) as error:
            raise self.refuse(f"{stored.name} cannot be read from {data} ({error})") from error

    def _nodes(self, kind: str) -> Iterator[NodeProto]:
        return (node for node in self._graph.node if node.op_type == kind)

    def _source(self, name: str) -> str:
        """Follow Identity nodes to where a value comes from: merged weights hang behind them."""
        while (node := self._producers.get(name)) is not None and node.op_type == "Identity":
            name = node.input[0]
        return name

    def _weight(self, name: str) -> str:
        """Return the name of the stored float matrix behind a value, or nothing."""
        stored = self._stored.get(self._source(name))
        if stored is None or stored.data_type != TensorProto.FLOAT:
            return ""
        return str(stored.name or self._source(name)) if len(stored.dims) == _MATRIX else ""

    def _biases(self) -> Mapping[str, str]:
        """Return, per value, the stored vector that an Add joins to it, on either side."""
        biases = {}
        for node in self._nodes("Add"):
            for value, other in (tuple(node.input), tuple(reversed(node.input))):
                stored = self._stored.get(self._source(other))
                if stored is not None and len(stored.dims) == 1:
                    biases[value] = self._source(other)
        return biases

    def _columns(self, name: str, rows: str) -> set[int]:
        """Return the columns of the input ``rows`` that an id is computed from."""
        found: set[int] = set()
        waiting, done = [name], set()
        while rows and waiting:
            node = self._producers.get(waiting.pop())
            if node is None or node.output[0] in done:
                continue
            done.add(node.output[0])
            index = self._stored.get(node.input[1]) if node.op_type == "Gather" else None
            if index is not None and self._axis(node) == _MATRIX and self._is_cast_of(node, rows):
                found.add(int(numpy_helper.to_array(index)))
            else:
                waiting += node.input
        return found

    def _is_cast_of(self, node: NodeProto, rows: str) -> bool:
        name = node.input[0]
        while (before := self._producers.get(name)) is not None and before.op_type in (
            "Cast",
            "Identity",
        ):
            name = before.input[0]
        return name == rows

    def _axis(self, gather: NodeProto) -> int:
        return next((a.i for a in gather.attribute if a.name == "axis"), 0)


def _constant(node: NodeProto) -> TensorProto:
    for attribute in node.attribute:
        if attribute.name == "value":
            tensor = TensorProto()
            tensor.CopyFrom(attribute.t)
            tensor.name = node.output[0]
            return tensor
    return TensorProto(name=node.output[0])


def _epsilon(node: NodeProto) -> float:
    return next((a.f for a in node.attribute if a.name == "epsilon"), 1e-5)
