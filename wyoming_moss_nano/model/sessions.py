"""ONNX Runtime sessions over a bundle's graphs, opened when first used."""

import logging
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from ..errors import BundleError, SpeechError
from .bundle import Bundle

_LOGGER = logging.getLogger(__name__)

_ERRORS_ONLY: Final = 3  # ONNX Runtime's log severity

Tensors = Mapping[str, NDArray[Any]]

# What ONNX Runtime raises; these classes have no common base of its own.
_ORT_ERRORS: Final = (
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NoSuchFile,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
)


class Graph:
    """One loaded graph: named tensors in, named tensors out. May be run by several threads."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._outputs = [output.name for output in session.get_outputs()]

    def run(self, inputs: Tensors) -> dict[str, NDArray[Any]]:
        """Run the graph and return all outputs by name.

        Raises:
            SpeechError: ONNX Runtime refuses the inputs or fails on them.
        """
        try:
            outputs = self._session.run(None, dict(inputs))
        except _ORT_ERRORS as error:
            reason = str(error).splitlines()[0]
            raise SpeechError(f"a graph of the model failed: {reason}") from error
        return dict(zip(self._outputs, outputs, strict=True))

    def run_into(self, inputs: Tensors, outputs: Tensors) -> dict[str, NDArray[Any]]:
        """Run the graph and write some outputs into arrays that are there already.

        An output may lie where an input does, if the graph's operators allow it.

        Returns:
            The other outputs, by name.

        Raises:
            SpeechError: ONNX Runtime refuses the inputs or fails on them.
        """
        binding = self._session.io_binding()
        for name, array in inputs.items():
            binding.bind_cpu_input(name, array)
        others = [name for name in self._outputs if name not in outputs]
        for name in others:
            binding.bind_output(name)
        for name, array in outputs.items():
            binding.bind_output(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
        try:
            self._session.run_with_iobinding(binding)
        # with bound outputs ONNX Runtime raises its errors as plain ones
        except (*_ORT_ERRORS, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            raise SpeechError(f"a graph of the model failed: {reason}") from error
        values = (value.numpy() for value in binding.get_outputs()[: len(others)])
        return dict(zip(others, values, strict=True))


class Sessions:
    """The graphs of one bundle as ONNX Runtime sessions on the CPU.

    A session is opened on first use and kept. ``threads`` is the number of intra-op threads of
    each. Two instances share nothing.
    """

    def __init__(self, bundle: Bundle, threads: int) -> None:
        self._paths = {f"codec_{name}": path for name, path in bundle.codec_graphs.paths.items()}
        self._paths.update(bundle.tts_graphs.paths)
        self._threads = threads
        self._open: dict[str, Graph] = {}
        self._lock = threading.Lock()

    def graph(self, name: str) -> Graph:
        """Return a graph by metadata name; those of the codec are named ``codec_<name>``.

        Raises:
            BundleError: ONNX Runtime cannot load it.
        """
        with self._lock:
            if name not in self._open:
                self._open[name] = open_graph(self._paths[name], self._threads)
            return self._open[name]


def open_graph(path: Path, threads: int) -> Graph:
    """Load a graph whose operators may use so many threads.

    Raises:
        BundleError: ONNX Runtime cannot load it.
    """
    options = onnxruntime.SessionOptions()
    # the publisher's runtime optimises the same way; exactness is defined against it
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    # a plan of memory for every shape that was ever seen costs more than it saves: shapes change
    options.enable_mem_pattern = False
    # idle workers that spin steal the time of whatever else runs on a small machine
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    started = time.monotonic()
    try:
        session = onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except _ORT_ERRORS as error:
        reason = str(error).splitlines()[0]
        raise BundleError(f"ONNX Runtime cannot load {path}: {reason}") from error
    _LOGGER.debug("Loaded %s in %.2f s", path.name, time.monotonic() - started)
    return Graph(session)
