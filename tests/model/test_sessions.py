import shutil

import numpy as np
import pytest

from wyoming_moss_nano.errors import BundleError, SpeechError
from wyoming_moss_nano.model.bundle import read_bundle
from wyoming_moss_nano.model.sessions import Sessions


def test_a_graph_is_opened_once_and_only_when_asked_for(tiny_folder, tmp_path):
    bundle = read_bundle(shutil.copytree(tiny_folder, tmp_path / "bundle"))
    sessions = Sessions(bundle, threads=1)
    for path in bundle.tts_graphs.files(["prefill"]):
        path.unlink()

    assert sessions.graph("codec_encode") is sessions.graph("codec_encode")
    with pytest.raises(BundleError, match=r"cannot load .*moss_tts_prefill.onnx"):
        sessions.graph("prefill")


def test_two_sets_of_sessions_share_nothing(tiny_bundle):
    graphs = [Sessions(tiny_bundle, threads=1).graph("codec_encode") for _ in range(2)]

    assert graphs[0] is not graphs[1]


def test_weights_that_do_not_fit_their_graph_are_one_line(tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder, tmp_path / "bundle")
    bundle = read_bundle(folder)
    graph = bundle.tts_graphs.paths["local_decoder"]
    graph.write_bytes(graph.read_bytes()[: graph.stat().st_size // 2])

    with pytest.raises(BundleError) as caught:
        Sessions(bundle, threads=1).graph("local_decoder")
    assert "\n" not in str(caught.value)


def test_inputs_a_graph_refuses_are_an_error_of_ours(tiny_bundle):
    graph = Sessions(tiny_bundle, threads=1).graph("codec_decode_full")

    with pytest.raises(SpeechError):
        graph.run(
            {
                "audio_codes": np.zeros((1, 2, 3, 4), np.int32),
                "audio_code_lengths": np.ones(1, np.int32),
            }
        )
