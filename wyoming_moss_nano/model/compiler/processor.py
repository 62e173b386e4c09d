"""What this processor can multiply in 8 bits without losing anything."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from ..graph_writer import IR_VERSION, OPSET
from .arithmetic import INT8_MOST

# Of both products in a pair: 2 * 127 * (63 + 64) is less than 2**15.
_LEVELS_IN_16_BITS: Final = 63

# As long and wide as the narrowest weight that is worth anything; several rows take another way
# through ONNX Runtime than one.
_DEPTH, _WIDTH, _ROWS = 256, 64, (1, 4)

# Multiplies uint8 [rows, depth], around 128, by int8 [depth, width] into int32 [rows, width].
Multiply = Callable[[NDArray[np.uint8], NDArray[np.int8]], NDArray[Any]]


def activation_levels(multiply: Multiply | None = None) -> int:
    """Return into how many levels on either side of zero activations may be cut here.

    Processors with instructions for whole 8-bit products (VNNI, ARM's dot product) take 127. Those
    of x86 without add two products in 16 bits, which 127 overflows, silently: there it is 63.

    Args:
        multiply: how products are computed; by default as compiled graphs do.
    """
    loudest = np.full((max(_ROWS), _DEPTH), 255, np.uint8)
    weight = np.full((_DEPTH, _WIDTH), INT8_MOST, np.int8)
    wanted = (255 - 128) * INT8_MOST * _DEPTH
    multiply = multiply or _multiplied
    exact = all((multiply(loudest[:rows], weight) == wanted).all() for rows in _ROWS)
    return INT8_MOST if exact else _LEVELS_IN_16_BITS


def _multiplied(values: NDArray[np.uint8], weight: NDArray[np.int8]) -> NDArray[Any]:
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["values", "weight", "middle"], ["sums"])],
        "product",
        [helper.make_tensor_value_info("values", TensorProto.UINT8, ["rows", len(weight)])],
        [helper.make_tensor_value_info("sums", TensorProto.INT32, ["rows", weight.shape[1]])],
        [
            numpy_helper.from_array(weight, "weight"),
            numpy_helper.from_array(np.array(128, np.uint8), "middle"),
        ],
    )
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(graph, ir_version=IR_VERSION, opset_imports=[opset])
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (sums,) = session.run(None, {"values": values})
    product: NDArray[Any] = sums
    return product
