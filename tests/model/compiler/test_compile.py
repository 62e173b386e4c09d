"""Published graphs are read by their structure, whatever they call things, or refused by name."""

import shutil
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from wyoming_moss_nano.model.bundle import read_bundle
from wyoming_moss_nano.model.compiled import CannotCompileError
from wyoming_moss_nano.model.compiler.compile import compile_graphs
from wyoming_moss_nano.model.random_bundle import TINY, build_random_bundle

PREFILL, FRAME = "prefill", "local_fixed_sampled_frame"
PRECISIONS = ("fp32", "int8")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("precision", PRECISIONS)
def test_whatever_the_graphs_call_their_weights_the_compiled_ones_are_the_same(
    tiny_bundle, exporter_bundle, tmp_path, precision
):
    folders = [tmp_path / "plain", tmp_path / "exporter"]

    for bundle, folder in zip((tiny_bundle, exporter_bundle), folders, strict=True):
        folder.mkdir()
        compile_graphs(bundle, precision, folder)

    plain, exporter = map(contents, folders)
    tables = [name for name in plain if name.endswith(".npy")]
    assert len(tables) == 2
    assert sorted(plain) == sorted(
        ["greedy_frame.onnx", "language.onnx", "sampled_frame.onnx", "weights.data", *tables]
    )
    assert plain == exporter


def test_published_files_stay_as_they_are(tiny_bundle, tmp_path):
    folder = tiny_bundle.tokenizer.parent
    before = contents(folder)

    compile_graphs(tiny_bundle, "int8", tmp_path)

    assert contents(folder) == before


@pytest.mark.parametrize("precision", PRECISIONS)
def test_every_weight_is_stored_once_and_the_published_text_head_is_left_out(
    tiny_bundle, tmp_path, precision
):
    compile_graphs(tiny_bundle, precision, tmp_path)

    places = {}
    for name in ("language", "sampled_frame", "greedy_frame"):
        graph = onnx.load(tmp_path / f"{name}.onnx", load_external_data=False).graph
        assert not any(node.op_type == "Identity" for node in graph.node)
        for tensor in graph.initializer:
            if tensor.data_location == TensorProto.EXTERNAL:
                entries = {entry.key: entry.value for entry in tensor.external_data}
                places[entries["location"], entries["offset"]] = int(entries["length"])
                assert list(tensor.dims) != [TINY.hidden, TINY.vocabulary]
    files = {location for location, _ in places}
    size = sum((tmp_path / file).stat().st_size for file in files)
    # the rest of the files is what aligns them, and what NumPy says of a table
    assert sum(places.values()) <= size < sum(places.values()) + 64 * len(places) + 128 * len(files)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_compiled_graphs_are_valid(tiny_bundle, tmp_path, precision):
    compile_graphs(tiny_bundle, precision, tmp_path)

    for path in tmp_path.glob("*.onnx"):
        onnx.checker.check_model(str(path))


# What is not built as the publisher's exporter builds it


@pytest.fixture
def edited(tiny_folder, tmp_path):
    """Make the tiny bundle with one graph changed, and read it."""

    def edit(role, change):
        folder = tmp_path / "bundle"
        shutil.copytree(tiny_folder, folder)
        path = read_bundle(folder).tts_graphs.paths[role]
        model = onnx.load(path, load_external_data=False)
        change(model.graph)
        path.write_bytes(model.SerializeToString())
        return read_bundle(folder)

    return edit


def stored(graph):
    return {tensor.name: tensor for tensor in graph.initializer}


def linear_layers(graph):
    """The MatMul nodes that have a weight."""
    weights = stored(graph)
    return [node for node in graph.node if node.op_type == "MatMul" and node.input[1] in weights]


def lookups(graph):
    weights = stored(graph)
    return [node for node in graph.node if node.op_type == "Gather" and node.input[0] in weights]


def norms(graph):
    return [node for node in graph.node if node.op_type == "LayerNormalization"]


def gemm(graph):
    for node in linear_layers(graph):
        node.op_type = "Gemm"


def without_last_layer(graph):
    for node in linear_layers(graph)[4:]:
        graph.node.remove(node)


def without_bias(graph):
    product = linear_layers(graph)[1].output[0]
    (added,) = (node for node in graph.node if node.op_type == "Add" and product in node.input)
    added.op_type = "Identity"
    del added.input[:]
    added.input.append(product)


def without_an_embedding(graph):
    graph.node.remove(lookups(graph)[-1])


def with_one_column_read_twice(graph):
    last, before = lookups(graph)[-1:-3:-1]
    last.input[1] = before.input[1]


def with_a_computed_weight(graph):
    node = linear_layers(graph)[0]
    graph.node.insert(0, helper.make_node("Neg", [node.input[1]], ["computed"]))
    node.input[1] = "computed"


def with_a_computed_norm(graph):
    node = norms(graph)[0]
    graph.node.insert(0, helper.make_node("Neg", [node.input[1]], ["computed"]))
    node.input[1] = "computed"


def with_a_norm_less(graph):
    for node in norms(graph)[3:]:
        node.op_type = "RMSNormalization"


def with_a_norm_without_bias(graph):
    del norms(graph)[0].input[2]


def with_layers_in_another_order(graph):
    first, third = linear_layers(graph)[0], linear_layers(graph)[2]
    first.input[1], third.input[1] = third.input[1], first.input[1]


def with_half_precision(graph):
    weight = stored(graph)[norms(graph)[0].input[2]]
    weight.data_type, weight.raw_data = TensorProto.FLOAT16, bytes(2 * TINY.hidden)


def with_steps_of_different_weights(graph):
    product = linear_layers(graph)[5].output[0]
    (added,) = (node for node in graph.node if node.op_type == "Add" and product in node.input)
    place = 1 - list(added.input).index(product)
    graph.initializer.append(helper.make_tensor("another", 1, [192], np.ones(192, np.float32)))
    added.input[place] = "another"


def with_heads_swapped(graph):
    text, code = linear_layers(graph)[4], linear_layers(graph)[9]
    text.input[1], code.input[1] = code.input[1], text.input[1]


def without_its_last_step(graph):
    for node in linear_layers(graph)[-5:]:
        graph.node.remove(node)


@pytest.mark.parametrize(
    ("role", "change", "reason"),
    [
        (PREFILL, gemm, "Gemm"),
        (PREFILL, without_last_layer, "it has 4 linear layers, not 8"),
        (PREFILL, without_bias, "nothing is added"),
        (PREFILL, without_an_embedding, "embeddings for 16 of 17"),
        (PREFILL, with_one_column_read_twice, "not read by one column"),
        (PREFILL, with_a_computed_weight, "it has 7 linear layers, not 8"),
        (PREFILL, with_a_computed_norm, "is computed"),
        (PREFILL, with_a_norm_less, "it has 3 norms for 2 layers"),
        (PREFILL, with_a_norm_without_bias, "norm"),
        (PREFILL, with_layers_in_another_order, "a linear layer is"),
        (PREFILL, with_half_precision, "is not float32"),
        (FRAME, gemm, "Gemm"),
        (FRAME, without_bias, "nothing is added|different weights"),
        (FRAME, without_an_embedding, "it has 15 embeddings, not 16"),
        (FRAME, with_steps_of_different_weights, "its steps have different weights"),
        (FRAME, with_heads_swapped, "its heads have"),
        (FRAME, without_its_last_step, "it has 80 products with weights, not 85"),
        (FRAME, with_a_norm_less, "it has 3 norms, not 51"),
    ],
)
def test_what_is_built_in_another_way_is_refused_in_one_line(
    edited, tmp_path, role, change, reason
):
    bundle = edited(role, change)

    with pytest.raises(CannotCompileError, match=reason) as refused:
        compile_graphs(bundle, "fp32", tmp_path)

    assert bundle.tts_graphs.paths[role].name in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_heads_of_a_width_that_the_attention_operator_does_not_take_are_refused(tmp_path):
    size = replace(TINY, hidden=96, heads=4, feed_forward=96)
    bundle = read_bundle(build_random_bundle(tmp_path / "bundle", size))

    with pytest.raises(CannotCompileError, match=r"moss_tts_prefill\.onnx.*24 wide"):
        compile_graphs(bundle, "fp32", tmp_path)


@pytest.mark.parametrize("role", [PREFILL, FRAME])
@pytest.mark.parametrize("content", [b"", b"garbage", bytes(1000)])
def test_a_graph_that_was_damaged_since_it_was_read_is_refused_in_one_line(
    tiny_folder, tmp_path, role, content
):
    folder = tmp_path / "bundle"
    shutil.copytree(tiny_folder, folder)
    bundle = read_bundle(folder)
    path = bundle.tts_graphs.paths[role]
    path.write_bytes(content)

    with pytest.raises(CannotCompileError) as refused:
        compile_graphs(bundle, "fp32", tmp_path)

    assert path.name in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_files_that_were_cut_off_or_went_away_are_refused_in_one_line(tiny_folder, tmp_path):
    folder = tmp_path / "bundle"
    shutil.copytree(tiny_folder, folder)
    bundle = read_bundle(folder)

    (data,) = bundle.tts_graphs.data[PREFILL]
    data.write_bytes(data.read_bytes()[:1000])
    with pytest.raises(CannotCompileError, match=data.name):
        compile_graphs(bundle, "fp32", tmp_path)

    data.unlink()
    with pytest.raises(CannotCompileError, match=data.name):
        compile_graphs(bundle, "fp32", tmp_path)

    bundle.tts_graphs.paths[PREFILL].unlink()
    with pytest.raises(CannotCompileError, match=r"moss_tts_prefill\.onnx"):
        compile_graphs(bundle, "fp32", tmp_path)
