"""A server that compiles its model while it speaks already, and speaks better from then on."""

import signal
import sys
import time

import onnx
import pytest

from wyoming_moss_nano.model.bundle import read_bundle
from wyoming_moss_nano.model.random_bundle import TINY, build_random_bundle

LOCAL = ("--uri", "tcp://127.0.0.1:0")


@pytest.fixture
def serve_tiny(launch, tiny_folder, tmp_path):
    """Start a server of the tiny bundle; its data folder outlives it."""

    def start(*options, model=tiny_folder, **more):
        options = ("--model", model, "--data-dir", tmp_path / "data", *LOCAL, *options)
        return launch(*options, **more).wait_until_listening()

    return start


def wait_for(server, text, patience=60.0):
    deadline = time.monotonic() + patience
    while text not in server.log:
        assert server.process.poll() is None, server.log
        assert time.monotonic() < deadline, server.log
        time.sleep(0.02)


def loaded(server):
    lines = server.log.splitlines()
    return {line.split("Loaded ")[1].split()[0] for line in lines if "Loaded " in line}


@pytest.mark.parametrize("precision", ["int8", "auto"])
async def test_a_server_answers_and_speaks_while_it_compiles_and_better_after_it(
    serve_tiny, tmp_path, precision
):
    server = serve_tiny("--precision", precision)

    async with server.connect() as client:
        await client.send("describe")
        assert (await client.event()).type == "info"
        assert len((await client.say("Good night.")).pcm) > 24000
        wait_for(server, "Speaking with precision")
        assert len((await client.say("Good night.")).pcm) > 24000

    assert "Compiling the model for this machine: 0 %" in server.log
    assert "WARNING" not in server.log
    (folder,) = (tmp_path / "data" / "compiled").glob("*-v1")
    chosen = folder.name.split("-")[1]
    assert f"Speaking with precision {chosen} from now on" in server.log
    assert precision in {chosen, "auto"}
    assert server.end() == 0

    again = serve_tiny("--precision", precision, "--log-level", "debug")
    await again.speaks()
    assert "Compiling" not in again.log
    assert f"Speaking with precision {chosen}" in again.log
    assert {"language.onnx", "sampled_frame.onnx"} <= loaded(again)
    assert not any(name.startswith("moss_tts") for name in loaded(again))
    assert "moss_audio_tokenizer_encode.onnx" not in loaded(again)
    assert again.end() == 0


async def test_the_embedded_model_speaks_exactly_and_nothing_is_said_of_it(serve, launch):
    server = serve("--log-level", "info")
    await server.speaks()

    assert "recision" not in server.log
    assert "ompil" not in server.log
    assert server.end() == 0


async def test_the_embedded_model_says_once_that_it_is_not_compiled_where_that_was_asked_for(serve):
    server = serve("--precision", "int8")
    await server.speaks()
    wait_for(server, "WARNING")
    assert server.end() == 0

    assert server.log.count("Speaking with --precision exact, not int8: this model is built") == 1
    assert "Traceback" not in server.log


async def test_without_the_package_onnx_a_server_warns_once_and_speaks(serve_tiny, tmp_path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['onnx'] = None\n")
    path = f"{hidden}:{':'.join(filter(None, sys.path))}"

    server = serve_tiny("--precision", "int8", env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin"})
    await server.speaks()
    wait_for(server, "WARNING")
    assert server.end() == 0

    warnings = [line for line in server.log.splitlines() if "WARNING" in line]
    assert len(warnings) == 1
    assert "pip install 'wyoming-moss-nano[all]'" in warnings[0]


async def test_a_model_that_cannot_be_compiled_is_tried_once_and_speaks_exactly(
    serve_tiny, tmp_path
):
    folder = build_random_bundle(tmp_path / "bundle", TINY)
    path = read_bundle(folder).tts_graphs.paths["prefill"]
    model = onnx.load(path, load_external_data=False)
    norm = next(node for node in model.graph.node if node.op_type == "LayerNormalization")
    model.graph.node.insert(0, onnx.helper.make_node("Abs", [norm.input[1]], ["computed"]))
    norm.input[1] = "computed"
    path.write_bytes(model.SerializeToString())

    server = serve_tiny("--precision", "fp32", "--log-level", "debug", model=folder)
    wait_for(server, "Loaded moss_audio_tokenizer_decode_step.onnx")
    assert "Loaded moss_tts_prefill.onnx" in server.log  # so that nobody waits for it
    await server.speaks()
    assert server.end() == 0
    assert "moss_tts_prefill.onnx cannot be compiled: computed is computed" in server.log
    assert "Traceback" not in server.log

    again = serve_tiny("--precision", "fp32", model=folder)
    await again.speaks()
    wait_for(again, "WARNING")
    assert again.end() == 0
    assert "Compiling" not in again.log
    assert again.log.count("Speaking with --precision exact, not fp32") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_server_that_is_told_to_stop_stops_compiling(serve_tiny, number):
    server = serve_tiny("--precision", "fp32")
    wait_for(server, "Compiling the model")

    assert server.end(number) == 0

    assert "Traceback" not in server.log


async def test_a_server_that_is_killed_while_it_compiles_compiles_at_its_next_start(serve_tiny):
    server = serve_tiny("--precision", "int8")
    wait_for(server, "Compiling the model")
    server.end(signal.SIGKILL)

    again = serve_tiny("--precision", "int8")
    wait_for(again, "Speaking with precision int8")
    await again.speaks()
    assert again.end() == 0


async def test_codes_that_the_host_chooses_are_the_same_with_compiled_graphs(serve_tiny):
    server = serve_tiny("--precision", "fp32", "--sample-mode", "full")
    async with server.connect() as client:
        before = await client.say("Good night.")
        wait_for(server, "Speaking with precision fp32")
        after = await client.say("Good night.")

    assert abs(before.pcm - after.pcm).max() <= 3
    assert server.end() == 0
