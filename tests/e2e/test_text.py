"""What real requests say: figures, tags, breaks, and words of the user's own."""

import numpy as np
import pytest

from wyoming_moss_nano.embedded import REFERENCES_FOLDER

RATE = 48000
SENTENCE_SILENCE = 0.24


def assert_same_sound(answer, other):
    assert len(answer.pcm) == len(other.pcm)
    assert np.abs(answer.pcm - other.pcm).max(initial=0) <= 3


async def test_figures_are_spoken_as_words(server):
    async with server.connect() as client:
        figures = await client.say("It is 21.5 °C in **the hall** 🔥.")
        words = await client.say("It is twenty-one point five degrees Celsius in the hall.")

    assert_same_sound(figures, words)


async def test_the_rules_can_be_turned_off_and_cleaning_stays(serve):
    async with serve("--no-normalize").connect() as client:
        figures = await client.say("It costs €12.50 **now**.")
        words = await client.say("It costs twelve euros and fifty cents now.")
        plain = await client.say("It costs €12.50 now.")

    assert figures.pcm.tobytes() != words.pcm.tobytes()
    assert_same_sound(figures, plain)


@pytest.mark.parametrize("more", [{}, {"text_format": "ssml"}])
async def test_a_break_is_so_much_silence(server, more):
    async with server.connect() as client:
        marked = await client.say(
            '<speak>Dinner is ready. <break time="1s"/> Come and eat.</speak>', **more
        )
        plain = await client.say("Dinner is ready. Come and eat.")

    assert len(marked.pcm) - len(plain.pcm) == round((1 - SENTENCE_SILENCE) * RATE)


async def test_ssml_may_arrive_cut_anywhere(server):
    text = "Dinner\nis <sub alias='ready'>rdy</sub> now.<break time='300ms'/>Come &amp; eat."
    async with server.connect() as client:
        whole = await client.say(text, text_format="ssml")
        letters = await client.stream(*text, text_format="ssml")

    assert_same_sound(letters, whole)


async def test_what_looks_complete_is_spoken_when_no_more_text_comes(server):
    async with server.connect() as client:
        await client.send("synthesize-start")
        await client.send("synthesize-chunk", text="One moment.")
        early = await client.until("audio-chunk")
        await client.send("synthesize-chunk", text=" The light is on now.")
        await client.send("synthesize-stop")
        rest = await client.until("synthesize-stopped")

    assert early.kinds == ["audio-start", "audio-chunk"]
    assert rest.kinds == ["audio-chunk", "audio-stop", "synthesize-stopped"]


@pytest.fixture
def at_home(serve, tmp_path):
    """A server with a voice of two languages and words of the user's own."""
    (tmp_path / "voices.yaml").write_text(
        f"""
        voices:
          - name: anna
            recording: {REFERENCES_FOLDER / "wren.flac"}
            languages: en, de
            authorized_by: nobody, it is synthetic
            statement: It may be used in tests.
        pronounce:
          en: {{MOSS: the green one}}
        """
    )
    return serve("--voices", tmp_path / "voices.yaml")


async def test_the_language_is_that_of_the_voice(at_home):
    async with at_home.connect() as client:
        for name, words in (("anna", "five percent left"), ("anna-de", "fünf Prozent left")):
            figures = await client.say("5% left", voice={"name": name})
            assert_same_sound(figures, await client.say(words, voice={"name": name}))


async def test_the_users_words_are_said_in_their_language(at_home):
    async with at_home.connect() as client:
        english = await client.say("Ask MOSS for more.", voice={"name": "anna"})
        expected = await client.say("Ask the green one for more.", voice={"name": "anna"})
        german = await client.say("Ask MOSS for more.", voice={"name": "anna-de"})

    assert_same_sound(english, expected)
    assert german.pcm.tobytes() != expected.pcm.tobytes()
