import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wyoming_moss_nano.text.reading import Reading
from wyoming_moss_nano.text.split import closed, is_fragment, is_speakable
from wyoming_moss_nano.text.stream import PieceStream, split_text

PLAIN = Reading(normalize=False)
LANGUAGES = ["", "en", "de", "fr", "es", "it", "nl", "pt", "zh"]


def words(text):
    """A tokenizer for tests: every word is a token."""
    return len(text.split())


def texts(text, count_tokens=words, budget=75, reading=PLAIN):
    return [piece.text for piece in split_text(text, count_tokens, budget, reading)]


TEXTS = st.text() | st.lists(
    st.sampled_from(
        [
            *[
                "Good morning.",
                "It is 21.5 degrees,",
                "Dr. Smith",
                "**bold. Yes**",
                "你好。",
                "x" * 30,
            ],
            *[
                "\n",
                "1.",
                "- item",
                "6 p.m.",
                "U.S.",
                "...",
                "\r\n",
                "| a | b |",
                "[a. b](http://c.d)",
            ],
            *[
                "<break time='1s'/>",
                "<sub alias='a. b'>",
                "</sub>",
                "<speak>",
                "&amp;",
                "<b",
                "<|im_end|>",
            ],
            *[
                "5 kWh",
                "am 3. Oktober",
                "12:30",
                "2024-12-24",
                "1,234.56",
                "€12.50",
                "sensor.a_b",
                "😀",
            ],
        ]
    )
).map(" ".join)


def squeezed(text):
    return "".join(filter(str.isalnum, text))


@settings(deadline=None)
@given(st.text(alphabet="abc ,.!?;1\n你好。"), st.integers(2, 40))
def test_nothing_is_lost_and_nothing_said_twice(text, budget):
    assert squeezed("".join(texts(text, len, budget))) == squeezed(text)


@settings(deadline=None)
@given(TEXTS, st.integers(2, 40))
def test_no_piece_is_over_the_budget(text, budget):
    assert all(len(piece) <= budget for piece in texts(text, len, budget))


@settings(deadline=None)
@given(TEXTS, st.integers(2, 40), st.sampled_from(LANGUAGES))
def test_every_piece_is_speakable_and_ends_as_a_sentence_does(text, budget, language):
    for piece in filter(None, texts(text, len, budget, Reading(language))):
        assert is_speakable(piece)
        assert closed(piece) == piece == piece.strip()


@settings(deadline=None)
@given(st.text(alphabet="ab c.,!\n", min_size=1))
def test_no_piece_is_a_fragment_that_could_join_a_neighbour(text):
    pieces = texts(text)

    assert len(pieces) < 2 or not any(map(is_fragment, pieces))


def arriving(text, places, reading, budget):
    """The pieces of a text that arrives cut at some places."""
    stream = PieceStream(reading, len, budget)
    edges = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    parts = [text[a:b] for a, b in itertools.pairwise(edges)]
    return [*(piece for part in parts for piece in stream.add(part)), *stream.finish()]


@settings(deadline=None)
@given(
    TEXTS,
    st.lists(st.integers(0, 120)),
    st.sampled_from(LANGUAGES),
    st.booleans(),
    st.integers(2, 90),
)
def test_wherever_a_text_is_cut_its_pieces_are_the_same(text, places, language, ssml, budget):
    reading = Reading(language, ssml=ssml)

    assert arriving(text, places, reading, budget) == split_text(text, len, budget, reading)


def test_sentences_are_pieces():
    assert texts("The washer is done. Dinner is ready! Will you come?") == [
        "The washer is done.",
        "Dinner is ready!",
        "Will you come?",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "It is 3.14 degrees.",
        "Dr. Smith is at the door.",
        "J. S. Bach wrote it.",
        "Look at example.com today.",
        "Version v1.0.0 is out.",
        "See you at 6 p.m. tonight.",
        "The U.S. team has won.",
        "Take fruit, e.g. Apples.",
        "It was approx. 5 degrees.",
        "The server is 192.0.2.0 now.",
        "Well... it depends on you.",
        "Milk, bread etc. are here.",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_split_it(text):
    assert texts(text, reading=Reading("en", normalize=False)) == [text]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Come at 6 p.m. / The door is open.", "en"),
        ("There are only 21. / The rest is gone.", "en"),
        ("It made us wait... / Then it came.", "en"),
        ("Is it really so? / Yes it is.", "en"),
        ('He said "I am here." / Then he left.', "en"),
        ("What a plan it is! / It may work.", "en"),
        ("Es regnet z.B. heute. / Morgen scheint die Sonne.", "de"),
        ("Heute ist der 3. Oktober. / Morgen ist Freitag.", "de"),
        ("今天天气非常好。/我们一起去公园吧！/你觉得怎么样？", "zh"),
        ("هل الباب مفتوح الآن؟ / نعم هو مفتوح الآن.", "ar"),
        ("आज मौसम बहुत अच्छा है। / कल बारिश होगी भाई।", "hi"),
    ],
)
def test_sentences_end_where_their_language_ends_them(text, language):
    separator = "/" if language == "zh" else " / "
    expected = text.split(separator)
    whole = text.replace(separator, "" if language == "zh" else " ")

    assert texts(whole, reading=Reading(language, normalize=False)) == expected


def test_a_line_end_ends_a_sentence_even_without_a_mark():
    assert texts("Here is some milk\nHere is some bread\r\nHere are the eggs") == [
        "Here is some milk.",
        "Here is some bread.",
        "Here are the eggs.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes. No. I will turn it on.", ["Yes. No. I will turn it on."]),
        ("Dinner is ready. Yes! The oven is off.", ["Dinner is ready. Yes!", "The oven is off."]),
        ("Milk\nBread\nEggs", ["Milk. Bread. Eggs."]),
        ("Dinner is ready. Bye.", ["Dinner is ready. Bye."]),
        ("Hello", ["Hello."]),
        ("你好。今天天气很好！走吧", ["你好。今天天气很好！走吧。"]),
    ],
)
def test_fragments_join_their_neighbours(text, expected):
    assert texts(text) == expected


def test_a_long_sentence_is_cut_at_its_clauses():
    text = "When the sun sets, the lights go on, the blinds go down, and the heating rests."

    assert texts(text, budget=10) == [
        "When the sun sets, the lights go on.",
        "the blinds go down, and the heating rests.",
    ]


def test_a_long_clause_is_cut_between_words_and_leaves_no_fragment():
    assert texts("one two three four five six seven eight nine", budget=7) == [
        "one two three four.",
        "five six seven eight nine.",
    ]


def test_a_long_word_is_cut_between_characters():
    assert texts("abcdefgh", len, 4) == ["abc.", "def.", "gh."]


def test_a_long_first_sentence_is_cut_short_so_that_sound_starts_soon():
    stream = PieceStream(PLAIN, words, 75)
    text = "When the sun has set behind the hill and the stars come out, the lights go on and t"

    assert [piece.text for piece in stream.add(text)] == [
        "When the sun has set behind the hill and the stars come out."
    ]


def test_a_sentence_is_out_as_soon_as_the_next_one_is_no_fragment():
    stream = PieceStream(PLAIN, words, 75)

    assert stream.add("Dinner is ready. Come to") == []
    assert [piece.text for piece in stream.add(" t")] == ["Dinner is ready."]
    assert [piece.text for piece in stream.finish()] == ["Come to t."]


@pytest.mark.parametrize(
    ("text", "released"),
    [
        ("Dinner is ready.", True),
        ("Is dinner ready?", True),
        ("One moment!", True),
        ("晚饭好了。", True),
        ("It is 21.", False),
        ("Ask Dr.", False),
        ("Ask J.", False),
        ("Come at 6 p.m.", False),
        ("Dinner is", False),
    ],
)
def test_when_no_text_comes_only_what_surely_ended_is_released(text, released):
    stream = PieceStream(Reading("en", normalize=False), words, 75)
    stream.add(text)

    assert [piece.text for piece in stream.idle()] == ([text] if released else [])


def test_a_sentence_is_released_though_the_next_one_has_hardly_begun():
    stream = PieceStream(PLAIN, words, 75)
    stream.add("Dinner is ready. Come")

    assert [piece.text for piece in stream.idle()] == ["Dinner is ready."]
    assert [piece.text for piece in stream.finish()] == ["Come."]


def test_nothing_is_lost_or_said_twice_by_releasing():
    stream = PieceStream(PLAIN, words, 75)

    pieces = stream.add("One moment.") + stream.idle() + stream.idle()
    pieces += stream.add(" The light is on now.") + stream.idle() + stream.finish()

    assert [piece.text for piece in pieces] == ["One moment.", "The light is on now."]


def test_text_that_never_ends_a_sentence_is_spoken_and_not_kept():
    stream = PieceStream(PLAIN, words, 10)

    pieces = [piece for i in range(1500) for piece in stream.add(f"word{i} ")]

    assert len(pieces) > 100
    assert all(words(piece.text) <= 10 for piece in pieces)


@pytest.mark.parametrize(
    "text", ["word " * 2_000, "a" * 10_000, "一" * 10_000, "a" * 128 * 1024], ids=len
)
def test_a_text_without_any_mark_is_spoken_to_its_end(text):
    pieces = texts(text, len, 300, Reading("en"))

    assert squeezed("".join(pieces)) == squeezed(text)
    assert max(map(len, pieces)) <= 300


@pytest.mark.parametrize(
    "text",
    [*"a*<&.[`-!_|1。,#>:/\\(@+ \n", "a ", "<a", "&a", "1.", "1,", "a.", "a_", "1:", "5 k", "I "],
)
def test_any_text_takes_time_in_proportion_to_its_length(text):
    def seconds(length):
        whole = text * (length // len(text))
        started = time.thread_time()
        split_text(whole, len, 300, Reading("en"))
        return time.thread_time() - started

    # ten times the text: a hundred times the time would be quadratic; a busy machine may try again
    assert any(seconds(100_000) / seconds(10_000) < 40 for _ in range(3))
