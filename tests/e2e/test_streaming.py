"""Text that comes in parts, as a language model writes it."""

import asyncio
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SPOKEN = ["audio-start", "audio-chunk", "audio-stop"]
STREAMED = [*SPOKEN, "synthesize-stopped"]

TEXT = "Dr. Smith paid 3.14 at 6 p.m. **Was** it\nmuch? 1. One 😀 Bye!"


def assert_same_sound(pcm, expected):
    # frames decoded in other groups are rounded differently
    assert len(pcm) == len(expected)
    assert np.abs(pcm - expected).max(initial=0) <= 3


@pytest.fixture
def whole(server):
    async def say():
        async with server.connect() as client:
            return (await client.say(TEXT)).pcm

    return asyncio.run(say())


def test_any_cutting_of_the_text_gives_the_same_sound(server, whole):
    async def spoken(parts):
        async with server.connect() as client:
            return await client.stream(*parts)

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sets(st.integers(1, len(TEXT) - 1)))
    def check(cuts):
        edges = [0, *sorted(cuts), len(TEXT)]
        parts = [TEXT[a:b] for a, b in pairwise(edges)]
        answer = asyncio.run(spoken(parts))
        assert answer.kinds == STREAMED
        assert_same_sound(answer.pcm, whole)

    check()
    answer = asyncio.run(spoken(TEXT))
    assert_same_sound(answer.pcm, whole)


async def test_sound_starts_before_the_text_ends(server):
    async with server.connect() as client:
        await client.send("synthesize-start")
        await client.send("synthesize-chunk", text="Good night to you. Sleep very w")
        early = await client.until("audio-chunk")
        await client.send("synthesize-chunk", text="ell.")
        await client.send("synthesize-stop")
        rest = await client.until("synthesize-stopped")
        whole = await client.say("Good night to you. Sleep very well.")

    assert early.kinds == ["audio-start", "audio-chunk"]
    assert rest.kinds == ["audio-chunk", "audio-stop", "synthesize-stopped"]
    assert_same_sound(np.concatenate([early.pcm, rest.pcm]), whole.pcm)


async def test_home_assistant_hears_its_text_once(server):
    async with server.connect() as client:
        await client.send("synthesize-start", voice={"name": "wren"})
        await client.send("synthesize-chunk", text="Good night. Sleep well.")
        await client.send("synthesize", text="Good night. Sleep well.", voice={"name": "wren"})
        await client.send("synthesize-stop")
        answer = await client.until("synthesize-stopped")
        whole = await client.say("Good night. Sleep well.", voice={"name": "wren"})

    assert answer.kinds == STREAMED
    assert_same_sound(answer.pcm, whole.pcm)


@pytest.mark.parametrize("parts", [[], ["", ""]])
async def test_the_copy_of_the_text_is_spoken_if_no_text_came_in_parts(server, parts):
    async with server.connect() as client:
        await client.send("synthesize-start")
        for part in parts:
            await client.send("synthesize-chunk", text=part)
        await client.send("synthesize", text="Good night.")
        await client.send("synthesize-stop")
        answer = await client.until("synthesize-stopped")
        whole = await client.say("Good night.")

    assert answer.kinds == STREAMED
    assert_same_sound(answer.pcm, whole.pcm)


async def test_a_stream_without_any_text_is_a_short_silence(server):
    async with server.connect() as client:
        answer = await client.stream()

    assert answer.kinds == STREAMED
    np.testing.assert_array_equal(answer.pcm, np.zeros(4800))


async def test_after_a_stream_the_connection_takes_requests_of_both_kinds(server):
    async with server.connect() as client:
        first = await client.stream("Good ", "night.")
        plain = await client.say("Good night.")
        second = await client.stream("Good night", ".")

    assert first.kinds == second.kinds == STREAMED
    assert plain.kinds == SPOKEN
    assert_same_sound(plain.pcm, first.pcm)
    assert_same_sound(second.pcm, first.pcm)


async def test_streams_sent_at_once_are_answered_in_order(server):
    async with server.connect() as client:
        for text in ("Good night.", "Dinner is ready now."):
            await client.send("synthesize-start")
            await client.send("synthesize-chunk", text=text)
            await client.send("synthesize-stop")
        await client.send("synthesize", text="Sleep well.")
        first = await client.until("synthesize-stopped")
        second = await client.until("synthesize-stopped")
        third = await client.until("audio-stop")
        alone = await client.say("Dinner is ready now.")

    assert first.kinds == second.kinds == STREAMED
    assert third.kinds == SPOKEN
    assert_same_sound(second.pcm, alone.pcm)


async def test_a_stop_without_a_start_is_answered_and_a_chunk_passed_over(server):
    async with server.connect() as client:
        await client.send("synthesize-chunk", text="Nobody hears this.")
        await client.send("synthesize-stop")
        assert (await client.event()).type == "synthesize-stopped"
        await client.send("synthesize-stop")
        assert (await client.event()).type == "synthesize-stopped"
        answer = await client.stream("Good night.")

    assert answer.kinds == STREAMED


async def test_a_second_start_ends_the_first_stream(server):
    async with server.connect() as client:
        await client.send("synthesize-start")
        await client.send("synthesize-chunk", text="Good night.")
        second = asyncio.create_task(client.stream("Sleep well."))
        first = await second
        rest = await client.until("synthesize-stopped")
        alone = await client.say("Good night.")

    assert first.kinds == rest.kinds == STREAMED
    assert_same_sound(first.pcm, alone.pcm)


async def test_a_start_without_data_and_chunks_of_odd_text_do_no_harm(server):
    odd = b"".join(
        [
            b'{"type": "synthesize-start"}\n',
            b'{"type": "synthesize-chunk"}\n',
            b'{"type": "synthesize-chunk", "data": null}\n',
            b'{"type": "synthesize-chunk", "data": {"text": null}}\n',
            b'{"type": "synthesize-chunk", "data": {"text": 7}}\n',
            b'{"type": "synthesize-chunk", "data": {"text": "Good night."}}\n',
            b'{"type": "synthesize-stop", "data": []}\n',
        ]
    )
    async with server.connect() as client:
        expected = await client.say("Good night.")
        await client.send_bytes(odd)
        answer = await client.until("synthesize-stopped")

    assert answer.kinds == STREAMED
    assert_same_sound(answer.pcm, expected.pcm)


async def test_half_a_character_in_each_of_two_chunks_does_no_harm(server):
    async with server.connect() as client:
        await client.send_bytes(
            b'{"type": "synthesize-start"}\n'
            b'{"type": "synthesize-chunk", "data": {"text": "Good night \\ud83d"}}\n'
            b'{"type": "synthesize-chunk", "data": {"text": "\\ude00."}}\n'
            b'{"type": "synthesize-stop"}\n'
        )
        answer = await client.until("synthesize-stopped")

    assert answer.kinds == STREAMED
    assert np.abs(answer.pcm).max() > 1000


async def test_a_text_without_end_is_refused_and_the_connection_goes_on(server):
    async with server.connect() as client:
        answer = await client.stream("Hello there. " * 9_000, "Good night. " * 5_000)
        after = await client.stream("Good night.")

    assert answer.kinds == [*SPOKEN[:2], "error", "audio-stop", "synthesize-stopped"]
    assert answer.only("error").data["code"] == "SpeechError"
    assert "longer than" in answer.only("error").data["text"]
    assert after.kinds == STREAMED
