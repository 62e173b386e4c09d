import re
from collections import Counter

import numpy as np
import onnx
import pytest

ROLES = [
    "prefill",
    "decode_step",
    "local_decoder",
    "local_cached_step",
    "local_fixed_sampled_frame",
    "codec_encode",
    "codec_decode_full",
    "codec_decode_step",
]


def graph(bundle, role):
    return onnx.load(dict(bundle.graphs())[role], load_external_data=False).graph


def initializers(bundle, role):
    return {tensor.name: tuple(tensor.dims) for tensor in graph(bundle, role).initializer}


def shape(value):
    return [entry.dim_param or entry.dim_value for entry in value.type.tensor_type.shape.dim]


@pytest.fixture(params=["tiny", "exported"])
def bundle(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("role", ROLES)
def test_graphs_are_valid(bundle, role):
    path = dict(bundle.graphs())[role]
    onnx.checker.check_model(str(path), full_check=True)
    model = onnx.load(path, load_external_data=False)
    assert model.ir_version == 8
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", 17)]


def test_inputs_and_outputs_are_those_of_the_metadata(bundle):
    tts, codec = bundle.meta["onnx"], bundle.codec_meta["onnx"]
    wanted = {
        "prefill": (["input_ids", "attention_mask"], tts["prefill_output_names"]),
        "decode_step": (tts["decode_input_names"], tts["decode_output_names"]),
        "local_decoder": (
            ["global_hidden", "text_token_id", "audio_prefix_token_ids"],
            ["text_logits", "audio_logits"],
        ),
        "local_cached_step": (tts["local_cached_input_names"], tts["local_cached_output_names"]),
        "local_fixed_sampled_frame": (
            tts["local_fixed_sampled_frame_input_names"],
            tts["local_fixed_sampled_frame_output_names"],
        ),
        "codec_encode": (codec["encode_input_names"], codec["encode_output_names"]),
        "codec_decode_full": (codec["decode_input_names"], codec["decode_output_names"]),
        "codec_decode_step": (
            codec["decode_step_input_names"],
            codec["decode_step_output_names"],
        ),
    }
    for role, (inputs, outputs) in wanted.items():
        session = bundle.sessions[role]
        assert [entry.name for entry in session.get_inputs()] == inputs
        assert [entry.name for entry in session.get_outputs()] == outputs
        for entry in (*session.get_inputs(), *session.get_outputs()):
            assert entry.type in {"tensor(float)", "tensor(int32)"}


def test_free_lengths_have_the_published_names(bundle):
    prefill, step = graph(bundle, "prefill"), graph(bundle, "decode_step")
    assert shape(prefill.input[0]) == ["batch", "prefill_seq", 17]
    assert shape(prefill.output[1]) == ["batch", "prefill_seq", 4, 16]
    assert shape(step.input[0]) == ["batch", "step_seq", 17]
    assert shape(step.input[2]) == ["batch", "past_seq", 4, 16]
    assert shape(step.output[1]) == ["batch", "total_seq", 4, 16]
    cached = graph(bundle, "local_cached_step")
    assert shape(cached.input[6]) == ["batch", "local_past_seq", 4, 16]
    assert shape(cached.output[2]) == ["batch", "local_total_seq", 4, 16]
    assert shape(graph(bundle, "local_decoder").output[1]) == [1, 16, 64]
    encode = graph(bundle, "codec_encode")
    assert shape(encode.input[0]) == ["batch", 2, "waveform_length"]
    full, stream = graph(bundle, "codec_decode_full"), graph(bundle, "codec_decode_step")
    assert shape(full.output[0]) == ["batch", "Castaudio_dim_1", "audio_length"]
    assert shape(stream.output[0]) == [1, 2, "audio_length"]


def test_the_sampled_frame_has_the_published_operators(bundle):
    counts = Counter(node.op_type for node in graph(bundle, "local_fixed_sampled_frame").node)
    published = {"TopK": 16, "CumSum": 32, "GatherElements": 16, "Softmax": 50, "Where": 66}
    assert {kind: counts[kind] for kind in published} == published


def test_plain_names_say_what_a_weight_is(tiny):
    names = initializers(tiny, "prefill")
    assert names["transformer.h.1.attn.c_attn.weight"] == (64, 192)
    assert all("onnx::" not in name for name in names)
    assert not any(node.op_type == "Identity" for node in graph(tiny, "prefill").node)


def test_the_exporter_folds_linear_weights_and_merges_equal_norms(exported):
    names = initializers(exported, "prefill")
    assert names["core.model.transformer.wte.weight"] == (420, 64)
    assert names["core.model.audio_embeddings.15.weight"] == (64, 64)
    assert names["core.model.transformer.h.1.attn.c_attn.bias"] == (192,)
    folded = [dims for name, dims in names.items() if re.fullmatch(r"onnx::MatMul_\d+", name)]
    assert folded == [(64, 192), (64, 64), (64, 128), (128, 64)] * 2
    norms = [name for name in names if re.search(r"ln_\w+\.weight$", name)]
    assert norms == ["core.model.transformer.h.0.ln_1.weight"]


def test_every_norm_reaches_the_one_weight_through_a_chain(exported):
    nodes = graph(exported, "prefill").node
    links = {node.output[0]: node.input[0] for node in nodes if node.op_type == "Identity"}
    ends, longest = set(), 0
    for node in nodes:
        if node.op_type == "LayerNormalization":
            scale, steps = node.input[1], 0
            while scale in links:
                scale, steps = links[scale], steps + 1
            ends.add(scale)
            longest = max(longest, steps)
    assert ends == {"core.model.transformer.h.0.ln_1.weight"}
    assert longest > 1


def test_the_sampled_frame_repeats_its_weights_through_identity(exported):
    names = initializers(exported, "local_fixed_sampled_frame")
    # The published graph has 45 as well: 15 fed embeddings, 16 + 1 heads, 12 of the layer, wte.
    assert len(names) == 45
    assert names["model.local_transformer.h.0.mlp.fc_in.bias"] == (128,)
    folded = [dims for name, dims in names.items() if name.startswith("onnx::MatMul_")]
    assert folded == [(64, 192), (64, 64), (64, 128), (128, 64), (64, 420)] + [(64, 64)] * 16
    repeated = Counter(
        node.input[0]
        for node in graph(exported, "local_fixed_sampled_frame").node
        if node.op_type == "Identity" and node.output[0].startswith("onnx::MatMul_")
    )
    assert list(repeated.values()) == [16] * 4


def test_habits_change_no_result(tiny, exported):
    text, voice = tiny.tokenizer.encode("We try."), tiny.voice(0)
    rows = tiny.rows(text, voice)
    for name, value in tiny.prefill(rows).items():
        np.testing.assert_allclose(exported.prefill(rows)[name], value, atol=1e-5)
    for mode in ("greedy", "fixed", "full"):
        frames = tiny.frames(text, voice, mode)
        assert exported.frames(text, voice, mode) == frames
    np.testing.assert_allclose(exported.decode(frames), tiny.decode(frames), atol=1e-5)
