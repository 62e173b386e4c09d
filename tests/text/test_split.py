import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wyoming_moss_nano.text.split import PieceStream, is_speakable, split_text


def words(text):
    """A tokenizer for tests: every word and mark is a token."""
    return len(text.replace(",", " ,").replace(".", " .").split())


def letters(text):
    return len(text)


TEXTS = st.text() | st.lists(
    st.sampled_from(
        [
            "Good morning.",
            "It is 21.5 degrees,",
            "Dr. Smith",
            "*bold*",
            "你好。",
            "x" * 30,
            "\n",
            "1.",
        ]
    )
).map(" ".join)


def squeezed(text):
    return "".join(text.split())


@given(TEXTS, st.integers(1, 40))
def test_nothing_is_lost_and_nothing_said_twice(text, budget):
    pieces = split_text(text, letters, budget)

    assert squeezed("".join(pieces)) == squeezed(text)


@given(TEXTS, st.integers(1, 40))
def test_no_piece_is_over_the_budget(text, budget):
    assert all(len(piece) <= budget for piece in split_text(text, letters, budget))


@given(TEXTS, st.integers(1, 40))
def test_pieces_are_stripped_and_never_empty(text, budget):
    assert all(piece and piece == piece.strip() for piece in split_text(text, letters, budget))


@given(st.text(min_size=1), st.integers(1, 5))
def test_a_character_that_alone_is_over_the_budget_stands_alone(text, budget):
    pieces = split_text(text, lambda piece: 6 * len(piece), budget)

    assert pieces == list(squeezed(text))


def test_sentences_are_pieces():
    text = "The washer is done. Dinner is ready! Will you come?"

    assert split_text(text, words, 75) == [
        "The washer is done.",
        "Dinner is ready!",
        "Will you come?",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "It is 3.14 degrees.",
        "Dr. Smith is at the door.",
        "Look at example.com today.",
        "Version v1.0.0 is out.",
        "See you at 6 p.m. tonight.",
        "The server is 192.0.2.0 now.",
    ],
)
def test_a_full_stop_inside_a_sentence_does_not_split_it(text):
    assert split_text(text, words, 75) == [text]


def test_a_line_end_ends_a_sentence_even_without_a_mark():
    assert split_text("Milk\nBread\r\nEggs", words, 75) == ["Milk", "Bread", "Eggs"]


def test_chinese_sentences_need_no_spaces():
    assert split_text("你好。今天天气很好！走吧", letters, 75) == [
        "你好。",
        "今天天气很好！",
        "走吧",
    ]


def test_a_long_sentence_is_cut_at_its_clauses():
    text = "When the sun sets, the lights go on, the blinds go down, and the heating rests."

    assert split_text(text, words, 10) == [
        "When the sun sets, the lights go on,",
        "the blinds go down, and the heating rests.",
    ]


def test_a_long_clause_is_cut_between_words():
    assert split_text("one two three four five six seven", words, 3) == [
        "one two three",
        "four five six",
        "seven",
    ]


def test_what_follows_a_long_clause_joins_its_rest():
    assert split_text("one two three four, five six", words, 5) == [
        "one two three four,",
        "five six",
    ]
    assert split_text("one two three four five six, seven", words, 5) == [
        "one two three four five",
        "six, seven",
    ]


def test_a_long_word_is_cut_between_characters():
    assert split_text("abcdefgh", letters, 3) == ["abc", "def", "gh"]


def test_a_list_number_goes_with_its_line():
    assert split_text("1. Milk\n2. Bread", words, 75) == ["1. Milk", "2. Bread"]


def test_asterisks_survive_because_cleaning_is_not_splitting():
    assert split_text("**Bold** 5 * 3 * 2.", words, 75) == ["**Bold** 5 * 3 * 2."]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "."])
def test_texts_without_words_make_no_fuss(text):
    assert split_text(text, words, 75) == ([] if not text.strip() else [text])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        (" \n", False),
        ("**", False),
        ("😀😀", False),
        (".", False),
        ("Ok", True),
        ("7", True),
        ("你好", True),
        ("é", True),
    ],
)
def test_only_letters_and_digits_are_speakable(text, expected):
    assert is_speakable(text) is expected


def arriving(text, places, count_tokens, budget):
    """The pieces of a text that arrives cut at some places."""
    stream = PieceStream(count_tokens, budget)
    edges = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    parts = [text[a:b] for a, b in itertools.pairwise(edges)]
    return [*(piece for part in parts for piece in stream.add(part)), *stream.finish()]


@given(TEXTS, st.lists(st.integers(0, 120)), st.integers(1, 40))
def test_wherever_a_text_is_cut_its_pieces_are_the_same(text, places, budget):
    assert arriving(text, places, letters, budget) == split_text(text, letters, budget)


def test_letter_by_letter_is_the_same_text():
    text = (
        "Hello Dr. Smith. It is 3.14 degrees, and 6 p.m. already! 1. Milk\n2. Bread\r\n你好。走吧！"
        " When the sun sets, the lights go on, the blinds go down, and the heating rests. U.S."
    )

    for budget in (3, 8, 20, 75):
        whole = split_text(text, words, budget)
        assert arriving(text, range(len(text)), words, budget) == whole


def test_a_sentence_is_out_as_soon_as_the_next_one_begins():
    stream = PieceStream(words, 75)

    assert stream.add("Dinner is ready. ") == []
    assert stream.add("C") == ["Dinner is ready."]
    assert stream.finish() == ["C"]


def test_a_line_is_out_as_soon_as_it_ends():
    assert PieceStream(words, 75).add("Milk\n") == ["Milk"]


def test_text_that_never_ends_a_sentence_is_spoken_and_not_kept():
    stream = PieceStream(words, 10)

    pieces = [piece for i in range(1000) for piece in stream.add(f"word{i} ")]

    assert len(pieces) > 90
    assert all(words(piece) <= 10 for piece in pieces)
    assert len(stream._pending) < 500


def test_a_long_text_takes_time_in_proportion_to_its_length():
    text = "Dinner is ready. " * 5000
    calls = []

    def counting(piece):
        calls.append(len(piece))
        return words(piece)

    assert len(split_text(text, counting, 75)) == 5000
    assert sum(calls) < 60 * len(text)
