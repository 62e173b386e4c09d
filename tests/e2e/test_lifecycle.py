"""From the start of the process to its end, and the ways in which both can go wrong."""

import os
import select
import signal
import socket
import subprocess
import time

import pytest

LONG = "It was a dark night, and the rain fell on the roofs of the town. " * 100
GOOD_NIGHT = b'{"type": "synthesize", "data": {"text": "Good night. Sleep well."}}\n'
STREAM = (
    b'{"type": "synthesize-start"}\n'
    b'{"type": "synthesize-chunk", "data": {"text": "Good night. "}}\n'
    b'{"type": "synthesize-chunk", "data": {"text": "Sleep well."}}\n'
)

both_signals = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])


def one_line(log):
    """Whether nothing but one line is wrong."""
    lines = [line for line in log.splitlines() if not line.startswith("INFO ")]
    return len(lines) == 1 and lines[0].startswith("wyoming-moss-nano: ")


@both_signals
async def test_a_signal_ends_an_idle_server_without_a_word(serve, number):
    server = serve()
    await server.speaks()
    server.forget_log()

    async with server.connect() as client:
        await client.send("ping")
        await client.event()
        assert server.end(number) == 0
        assert await client.ended()

    assert server.log == ""


async def test_what_is_being_spoken_may_finish_after_a_signal(serve):
    server = serve()

    async with server.connect() as client:
        whole = await client.say("Good night. Sleep well.")
        await client.send("synthesize", text="Good night. Sleep well.")
        await client.until("audio-start")
        server.process.send_signal(signal.SIGTERM)
        answer = await client.until("audio-stop")
        assert await client.ended()

    assert server.process.wait(10) == 0
    assert len(answer.pcm) == len(whole.pcm)
    assert "WARNING" not in server.log
    assert "Traceback" not in server.log


async def test_what_takes_too_long_after_a_signal_is_cut_with_an_error(serve, wire):
    server = serve()
    async with server.connect() as plain, server.connect() as streaming:
        await plain.send("synthesize", text=LONG)
        await plain.until("audio-chunk")
        await streaming.send("synthesize-start")
        await streaming.send("synthesize-chunk", text="Good night to you. Sleep very we")
        await streaming.until("audio-chunk")
        with server.dial(receive_buffer=4096) as not_reading:
            not_reading.sendall(wire("synthesize", text=LONG))
            assert not_reading.recv(1)

            started = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            cut = await plain.until("audio-stop")
            cut_stream = await streaming.until("synthesize-stopped")
            assert await plain.ended()
            assert await streaming.ended()
            assert server.process.wait(20) == 0

    # three seconds to finish, a little to tell; far less than a supervisor waits before it kills
    assert time.monotonic() - started < 9
    assert cut.kinds[-2:] == ["error", "audio-stop"]
    assert cut_stream.kinds[-3:] == ["error", "audio-stop", "synthesize-stopped"]
    for answer in (cut, cut_stream):
        assert "stopping" in answer.only("error").data["text"]
    assert "Traceback" not in server.log


def test_a_signal_ends_the_server_right_after_its_start(serve):
    server = serve()

    assert server.end() == 0
    assert "Traceback" not in server.log


@pytest.fixture
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("s") / "s"


async def test_the_unix_socket_is_gone_after_the_server(serve, path):
    server = serve(uri=f"unix://{path}")
    assert path.is_socket()

    assert server.end() == 0

    assert not path.exists()


async def test_a_server_starts_where_another_was_killed(serve, path):
    killed = serve(uri=f"unix://{path}")
    killed.end(signal.SIGKILL)
    assert path.is_socket()

    server = serve(uri=f"unix://{path}")

    await server.speaks()


async def test_a_server_starts_while_the_one_before_it_still_speaks(serve, path):
    old = serve(uri=f"unix://{path}")
    async with old.connect() as client:
        await client.send("synthesize-start")
        await client.send("synthesize-chunk", text="Good night to you. Sleep very we")
        await client.until("audio-chunk")
        old.process.send_signal(signal.SIGTERM)

        new = serve(uri=f"unix://{path}")
        await client.until("synthesize-stopped")
    assert old.process.wait(20) == 0

    assert path.is_socket()
    await new.speaks()


async def test_the_socket_of_a_living_server_is_left_alone(serve, launch, path):
    server = serve(uri=f"unix://{path}")

    second = launch("--uri", "tcp://127.0.0.1:0", "--uri", f"unix://{path}")

    assert second.process.wait(20) == 1
    assert path.is_socket()
    await server.speaks()
    assert one_line(second.log)
    assert "another server listens there" in second.log


def test_a_file_that_is_no_socket_is_left_alone(launch, path):
    path.write_text("precious")

    server = launch("--uri", "tcp://127.0.0.1:0", "--uri", f"unix://{path}")

    assert server.process.wait(20) == 1
    assert path.read_text() == "precious"
    assert one_line(server.log)
    assert "something that is no socket is there" in server.log


async def test_a_port_in_use_is_told_in_one_line(serve, launch):
    server = serve()

    second = launch("--uri", server.uri)

    assert second.process.wait(20) == 1
    assert one_line(second.log)
    assert "in use" in second.log
    assert str(server.port) in second.log
    await server.speaks()


async def test_several_uris_are_all_served(serve, path):
    server = serve("--uri", f"unix://{path}")
    assert [uri.split(":")[0] for uri in server.uris] == ["tcp", "unix"]

    await server.speaks()
    with socket.socket(socket.AF_UNIX) as plain:
        plain.settimeout(20)
        plain.connect(str(path))
        plain.sendall(b'{"type": "ping"}\n')
        assert b"pong" in plain.recv(1000)

    assert server.end() == 0
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (["--uri", "tcp://x"], 2, "--uri must be tcp://HOST:PORT"),
        (["--uri", "tcp://[::1"], 2, "'tcp://[::1'"),
        (["--max-streams", "0"], 2, "--max-streams must be a whole number from 1"),
        (["--log-format", "%(nope)s"], 2, "--log-format must be a format"),
        (["--default-voice", "nobody"], 1, "there is no voice 'nobody'"),
        (["--uri", "unix:///no/such/folder/s"], 1, "cannot listen on unix:///no/such/folder/s"),
    ],
)
def test_a_mistake_in_the_options_is_told_in_one_line(cli, tmp_path, arguments, status, expected):
    done = cli("serve", "--no-zeroconf", "--data-dir", tmp_path, *arguments)

    assert done.returncode == status
    assert one_line(done.stderr.decode())
    assert expected in done.stderr.decode()
    assert not done.stdout


def over_stdio(launch, **more):
    return launch("--uri", "stdio://", **more)


def assert_full_answer(stdout, log, last=b"audio-stop"):
    assert log == ""
    assert stdout.startswith(b'{"type": "audio-start"')
    # 48 kHz of two bytes for longer than a second
    assert len(stdout) > 96_000
    assert stdout.count(b'"audio-stop"') == 1
    assert last in stdout[-200:]


@pytest.mark.parametrize(
    ("sent", "last"),
    [(GOOD_NIGHT, b"audio-stop"), (STREAM, b"synthesize-stopped")],
    ids=["synthesize", "a stream without its stop"],
)
def test_text_piped_in_is_sound_piped_out(launch, sent, last):
    server = over_stdio(launch, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    stdout, _ = server.process.communicate(sent, timeout=20)

    assert server.process.returncode == 0
    assert_full_answer(stdout, server.log, last)


def test_a_slow_reader_of_standard_output_gets_everything(launch):
    server = over_stdio(launch, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    server.process.stdin.write(GOOD_NIGHT)
    server.process.stdin.close()

    stdout = b""
    while part := os.read(server.process.stdout.fileno(), 8192):
        stdout += part
        time.sleep(0.03)

    assert server.process.wait(20) == 0
    assert_full_answer(stdout, server.log)


def test_standard_input_and_output_may_be_files(launch, tmp_path):
    (tmp_path / "in").write_bytes(GOOD_NIGHT)
    with (tmp_path / "in").open("rb") as stdin, (tmp_path / "out").open("wb") as stdout:
        server = over_stdio(launch, stdin=stdin, stdout=stdout)
        status = server.process.wait(10)

    assert status == 0
    assert_full_answer((tmp_path / "out").read_bytes(), server.log)


def test_an_empty_standard_input_ends_the_server(launch):
    server = over_stdio(launch, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

    assert server.process.communicate(timeout=10)[0] == b""
    assert server.process.returncode == 0
    assert server.log == ""


def test_a_reader_of_standard_output_may_leave(launch, wire):
    server = over_stdio(launch, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    server.process.stdin.write(wire("synthesize", text=LONG))
    server.process.stdin.flush()
    assert server.process.stdout.read(100)
    server.process.stdout.close()

    assert server.process.wait(10) == 0
    assert server.log == ""


def test_a_program_can_ask_again_and_again_over_standard_input(launch):
    server = over_stdio(launch, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stdin, stdout = server.process.stdin, server.process.stdout

    for _ in range(2):
        stdin.write(GOOD_NIGHT)
        stdin.flush()
        heard = b""
        while b"audio-stop" not in heard:
            assert select.select([stdout], [], [], 20)[0]
            heard += os.read(stdout.fileno(), 1 << 16)
        assert len(heard) > 96_000

    assert server.end() == 0
    assert server.log == ""
