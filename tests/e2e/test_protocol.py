"""What a Wyoming client asks and hears, over every way to reach the server."""

import asyncio
import re
import shutil
import socket

import numpy as np
import pytest

from wyoming_moss_nano.server import endpoint

SPOKEN = ["audio-start", "audio-chunk", "audio-stop"]
LONG = "It was a dark night, and the rain fell on the roofs of the town. " * 4


def test_probe_prints_the_voices_of_a_server(server, cli):
    done = cli("probe", server.uri)

    first, *voices = done.stdout.decode().splitlines()
    assert done.returncode == 0
    assert first.startswith("moss-nano ")
    assert [voice.split()[1] for voice in voices] == ["en"] * len(voices)
    assert any(voice.split()[0] == "robin" for voice in voices)


def test_probe_fails_with_one_line_where_nobody_listens(cli):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    done = cli("probe", f"tcp://127.0.0.1:{port}")

    assert done.returncode == 1
    assert done.stderr.startswith(b"wyoming-moss-nano: ")
    assert done.stderr.count(b"\n") == 1


async def test_without_a_uri_both_address_families_answer_on_one_port(ipv6):
    async def accept(_reader, writer):
        writer.close()

    listening = await endpoint.listen_tcp(endpoint.TcpEndpoint(None, 0), accept)
    try:
        ports = {name.getsockname()[1] for each in listening for name in each.sockets}
        (port,) = ports
        for host in ("127.0.0.1", "::1"):
            reader, writer = await asyncio.open_connection(host, port)
            assert await reader.read() == b""
            writer.close()
            await writer.wait_closed()
    finally:
        for each in listening:
            each.close()
            await each.wait_closed()


async def test_the_server_speaks_over_ipv6(serve, ipv6):
    server = serve(uri="tcp://[::1]:0")

    assert server.uri.startswith("tcp://[::1]:")
    await server.speaks()


async def test_the_server_speaks_over_a_unix_socket(serve, tmp_path_factory):
    path = tmp_path_factory.mktemp("s") / "s"
    server = serve(uri=f"unix://{path}")

    assert server.uri == f"unix://{path}"
    await server.speaks()


async def test_info_names_the_program_and_its_voices(server):
    async with server.connect() as client:
        await client.send("describe")
        info = (await client.event()).data

    (program,) = info["tts"]
    names = [voice["name"] for voice in program["voices"]]
    assert program["name"] == "moss-nano"
    assert program["installed"]
    assert program["supports_synthesize_streaming"]
    assert program["version"]
    assert names == sorted(names)
    assert "robin" in names
    assert all(voice["installed"] and len(voice["languages"]) == 1 for voice in program["voices"])
    assert not any(info.get(kind) for kind in ("asr", "handle", "intent", "wake", "mic", "snd"))


async def test_without_streaming_info_does_not_offer_it(serve):
    server = serve("--no-streaming")

    async with server.connect() as client:
        await client.send("describe")
        (program,) = (await client.event()).data["tts"]

    assert not program["supports_synthesize_streaming"]


async def test_a_server_that_just_started_describes_itself_and_then_speaks(serve):
    server = serve()

    async with server.connect() as client:
        await client.send("synthesize", text="Hello there.")
        await client.send("describe")
        events = [(await client.event()).type for _ in range(2)]
        assert set(events) == {"info", "audio-start"}
        answer = await client.until("audio-stop")
    assert len(answer.pcm) > 24000


async def test_info_comes_while_the_server_speaks(server):
    async with server.connect() as speaking, server.connect() as asking:
        await speaking.send("synthesize", text=LONG)
        await speaking.until("audio-chunk")
        for client in (asking, speaking):
            await client.send("describe")
            await client.until("info")
        answer = await speaking.until("audio-stop")

    assert answer.kinds == ["audio-chunk", "audio-stop"]


async def test_a_request_is_answered_by_one_start_chunks_and_one_stop(server):
    async with server.connect() as client:
        answer = await client.say("Good night. Sleep well.")

    assert answer.kinds == SPOKEN
    sound_format = {"rate": 48000, "width": 2, "channels": 1}
    for event in answer[:-1]:
        assert event.data.items() >= sound_format.items()
    chunks = [len(event.payload) // 2 for event in answer[1:-1]]
    assert len(chunks) > 1
    assert max(chunks) <= 3840
    assert 1.0 < len(answer.pcm) / 48000 < 6.0
    assert np.abs(answer.pcm).max() > 1000


async def test_requests_follow_each_other_on_one_connection(server):
    texts = ["Good night.", "Dinner is ready now, and it is warm.", "Good night."]

    async with server.connect() as client:
        answers = [await client.say(text) for text in texts]

    assert all(answer.kinds == SPOKEN for answer in answers)
    assert len(answers[0].pcm) == len(answers[2].pcm) < len(answers[1].pcm)


async def test_requests_sent_at_once_are_answered_in_order_and_not_mixed(server):
    texts = ["Dinner is ready now, and it is warm.", "Good night.", "", "Sleep well, my dear."]

    async with server.connect() as client:
        alone = [await client.say(text) for text in texts]
        for text in texts:
            await client.send("synthesize", text=text)
        answers = [await client.until("audio-stop") for _ in texts]

    assert all(answer.kinds == SPOKEN for answer in answers)
    for answer, expected in zip(answers, alone, strict=True):
        assert_same_sound(answer.pcm, expected.pcm)


def assert_same_sound(pcm, expected):
    # frames decoded in other groups are rounded differently
    assert len(pcm) == len(expected)
    assert np.abs(pcm - expected).max(initial=0) <= 3


async def test_a_waiting_request_gets_its_audio_start_at_once(serve):
    server = serve("--max-streams", "1")

    async with server.connect() as first, server.connect() as second:
        await first.send("synthesize", text=LONG)
        heard = await first.until("audio-chunk")
        before_the_end = asyncio.create_task(first.until("audio-stop"))
        await second.send("synthesize", text="Good night.")
        assert (await second.event()).type == "audio-start"
        assert not before_the_end.done()
        assert (await before_the_end).kinds[-1] == "audio-stop"
        assert (await second.until("audio-stop")).kinds == ["audio-chunk", "audio-stop"]
    assert heard.kinds == ["audio-start", "audio-chunk"]


@pytest.mark.parametrize("text", ["", "  ", "\n\n", "😀", "**", ".", "..."])
async def test_a_text_with_nothing_to_speak_becomes_a_short_silence(server, text):
    async with server.connect() as client:
        plain = await client.say(text)
        streamed = await client.stream(text)

    assert plain.kinds == SPOKEN
    assert streamed.kinds == [*SPOKEN, "synthesize-stopped"]
    for answer in (plain, streamed):
        np.testing.assert_array_equal(answer.pcm, np.zeros(4800))


async def test_voices_differ_and_their_names_are_case_insensitive(server):
    async with server.connect() as client:
        robin, default, wren, upper, language = [
            (await client.say("Good night.", **voice)).pcm
            for voice in (
                {"voice": {"name": "robin"}},
                {},
                {"voice": {"name": "wren"}},
                {"voice": {"name": "WREN"}},
                {"voice": {"language": "en-GB"}},
            )
        ]

    assert_same_sound(robin, default)
    assert_same_sound(language, default)
    assert_same_sound(wren, upper)
    assert len(wren) != len(robin) or np.abs(wren - robin).max() > 1000
    assert "WARNING" not in server.log


@pytest.mark.parametrize(
    "name", ["nobody", "../../etc/passwd", "/etc/passwd", "references.json", "robin.wav", ""]
)
async def test_an_unknown_voice_speaks_as_the_default_voice_with_a_warning(server, name):
    async with server.connect() as client:
        expected = await client.say("Good night.")
        plain = await client.say("Good night.", voice={"name": name})
        streamed = await client.stream("Good night.", voice={"name": name})

    assert_same_sound(plain.pcm, expected.pcm)
    assert_same_sound(streamed.pcm, expected.pcm)
    warnings = re.findall("^WARNING .*", server.log, re.MULTILINE)
    assert len(warnings) == 2
    assert all(f"there is no voice {name!r}" in warning for warning in warnings)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace shows which files are opened")
async def test_the_name_of_a_voice_is_never_looked_up_as_a_file(serve, tmp_path):
    trace = tmp_path / "trace"
    server = serve()
    async with server.connect() as client:
        await client.say("Good night.")
        tracer = await asyncio.create_subprocess_exec(
            "strace", "-f", "-e", "trace=file", "-o", str(trace), "-p", str(server.process.pid),
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        if b"attached" not in await tracer.stderr.readline():
            await tracer.wait()
            pytest.skip("strace may not look at processes here")
        await client.say("Good night.", voice={"name": "../../etc/passwd"})
        tracer.terminate()
        await tracer.wait()

    assert "passwd" not in trace.read_text()


@pytest.mark.parametrize(
    "voice",
    [
        {"speaker": "somebody"},
        {"name": None},
        {"name": 7, "language": ["en"]},
        {},
        None,
        "robin",
        7,
        ["robin"],
    ],
)
async def test_a_voice_said_oddly_is_the_default_voice_without_a_warning(server, voice):
    async with server.connect() as client:
        expected = await client.say("Good night.")
        plain = await client.say("Good night.", voice=voice)
        streamed = await client.stream("Good night.", voice=voice)

    assert_same_sound(plain.pcm, expected.pcm)
    assert_same_sound(streamed.pcm, expected.pcm)
    assert "WARNING" not in server.log


async def test_the_speaker_of_a_voice_is_passed_over(server):
    async with server.connect() as client:
        expected = await client.say("Good night.", voice={"name": "wren"})
        answer = await client.say("Good night.", voice={"name": "wren", "speaker": "somebody"})

    assert_same_sound(answer.pcm, expected.pcm)
    assert "DEBUG Passing over the speaker" in server.log
    assert "WARNING" not in server.log


async def test_a_ping_comes_back_with_its_text_also_while_speaking(server):
    async with server.connect() as client:
        await client.send("ping", text="Grüße 你好")
        assert (await client.event()).data["text"] == "Grüße 你好"
        await client.send("synthesize", text=LONG)
        await client.until("audio-chunk")
        await client.send("ping")
        answer = await client.until("pong")
        assert "audio-stop" not in answer.kinds
        assert answer[-1].data.get("text") is None
        await client.until("audio-stop")


async def test_events_that_are_not_for_a_voice_are_passed_over(server):
    async with server.connect() as client:
        await client.send("select-program", name="something-else")
        await client.send("transcribe", language="en")
        await client.send("audio-stop")
        await client.send("")
        answer = await client.say("Good night.", context={"a": 1}, text_format="text")

    assert answer.kinds == SPOKEN
    assert "WARNING" not in server.log
    assert "ERROR" not in server.log


async def test_samples_per_chunk_bounds_the_chunks(serve):
    server = serve("--samples-per-chunk", "1000")

    async with server.connect() as client:
        answer = await client.say("Good night.")

    chunks = [len(event.payload) // 2 for event in answer if event.type == "audio-chunk"]
    assert max(chunks) == 1000


async def test_a_full_queue_refuses_at_once_and_harms_nobody(serve):
    server = serve("--max-streams", "1", "--max-queue", "0")

    async with server.connect() as first, server.connect() as second:
        alone = await first.stream("Good night to you. ", "Sleep very well.")

        await first.send("synthesize-start")
        await first.send("synthesize-chunk", text="Good night to you. Sleep very w")
        heard = await first.until("audio-chunk")
        refused = await second.say("Dinner is ready.")
        refused_stream = await second.stream("Dinner is ready.")
        await first.send("synthesize-chunk", text="ell.")
        await first.send("synthesize-stop")
        heard += await first.until("synthesize-stopped")

        later = await second.say("Dinner is ready.")

    assert refused.kinds == ["error", "audio-stop"]
    assert refused_stream.kinds == ["error", "synthesize-stopped"]
    for answer in (refused, refused_stream):
        assert answer[0].data["code"] == "QueueFullError"
        assert "try again" in answer[0].data["text"]
    assert_same_sound(heard.pcm, alone.pcm)
    assert later.kinds == SPOKEN
    assert "Traceback" not in server.log


@pytest.fixture
def spoilt_model(tiny_folder, tmp_path):
    """Make a model whose codec has one and the same number for all its weights."""

    def spoil(weight):
        folder = tmp_path / "spoilt"
        shutil.copytree(tiny_folder, folder)
        for data in folder.glob("*Tokenizer*/*decode*.data"):
            data.write_bytes(np.full(data.stat().st_size // 4, weight, "<f4").tobytes())
        return folder

    return spoil


@pytest.mark.parametrize(
    ("weight", "reason"), [(np.nan, "files are damaged"), (0.0, "made no sound")]
)
async def test_a_failure_is_an_error_event_and_the_connection_goes_on(
    serve, spoilt_model, weight, reason
):
    server = serve("--model", spoilt_model(weight))

    async with server.connect() as client:
        plain = await client.say("Good night.")
        streamed = await client.stream("Good ", "night.")
        silent = await client.say("")
        await client.send("describe")
        await client.until("info")

    for answer, end in ((plain, ["audio-stop"]), (streamed, ["synthesize-stopped"])):
        # a model that failed before the request came fails it without a start
        if answer is streamed and "audio-start" in answer.kinds:
            end.insert(0, "audio-stop")
        assert answer.kinds[answer.kinds.index("error") :] == ["error", *end]
        assert answer.only("error").data["code"] == "SpeechError"
        assert reason in answer.only("error").data["text"]
    assert silent.kinds[-1] == "audio-stop"
    assert "WARNING A request failed: " in server.log
    assert "Traceback" not in server.log
