import pytest

from wyoming_moss_nano.text.piece import Piece
from wyoming_moss_nano.text.reading import Reading
from wyoming_moss_nano.text.stream import clean_text, split_text


def pieces(text, **reading):
    return split_text(text, len, 200, Reading(**reading))


def cleaned(text, **reading):
    return " / ".join(clean_text(text, Reading(**reading)))


@pytest.mark.parametrize(
    ("ssml", "expected"),
    [
        ("<speak>Dinner is ready.</speak>", "Dinner is ready."),
        (
            "<?xml version='1.0'?>\n<speak xml:lang='en'>\n  Dinner\n  is ready.\n</speak>",
            "Dinner is ready.",
        ),
        ("<speak><p>Good morning</p><s>It rains</s></speak>", "Good morning / It rains"),
        (
            "<speak>The <sub alias='World Wide Web'>WWW</sub> is down.</speak>",
            "The World Wide Web is down.",
        ),
        (
            "<speak>It is <prosody rate='slow'>very <emphasis>cold</emphasis></prosody>.</speak>",
            "It is very cold.",
        ),
        (
            "<speak>Salt &amp; pepper<!-- a <note> --> <![CDATA[a < b]]></speak>",
            "Salt & pepper a < b",
        ),
        ("<speak>Dinner is <break time='1s' ready</speak>", "Dinner is / ready"),
        ("<speak>Dinner <emphasis>is ready", "Dinner is ready"),
        ("<speak>Dinner is ready <brea", "Dinner is ready"),
        (
            "<speak>Dinner <sub alias='is'>never closed and ready",
            "Dinner is never closed and ready",
        ),
        ("<speak><sub alias='Doctor Who'>Dr. Who</sub> is here.</speak>", "Doctor Who is here."),
    ],
)
def test_of_ssml_the_text_is_said(ssml, expected):
    assert cleaned(ssml) == expected


def test_a_request_can_say_that_it_is_ssml():
    assert cleaned("Dinner\nis <x y>ready.", ssml=True) == "Dinner is ready."


@pytest.mark.parametrize(
    "text",
    [
        "3 < 5 and 7 > 2",
        "if a<b and c>d",
        "x <y and z> w",
        "<",
        "a <- b",
        "I <3 you",
        "& so on",
        "a &b c",
    ],
)
def test_plain_text_keeps_what_only_looks_like_a_tag(text):
    assert cleaned(text) == text


def test_tags_of_html_leave_their_text():
    assert cleaned('<b class="x">Hot</b><br>and <a href="http://x">cold</a>') == "Hot / and cold"


@pytest.mark.parametrize(
    ("tag", "seconds"),
    [
        ('<break time="1s"/>', 1),
        ("<break time='250ms'/>", 0.25),
        ('<break time="1.5s"></break>', 1.5),
        ("<break/>", 0.5),
        ('<break strength="strong"/>', 0.75),
        ('<break time="99999s"/>', 10),
        ('<break time="8s"/> <break time="8s"/>', 10),
    ],
)
def test_a_break_is_so_much_silence(tag, seconds):
    first, *silence, last = pieces(f"<speak>Dinner is ready. {tag} Come and eat.</speak>")

    assert first.pause_s + sum(piece.pause_s for piece in silence) == seconds
    assert (first.text, last) == ("Dinner is ready.", Piece("Come and eat."))
    assert not any(piece.text for piece in silence)


def test_a_break_parts_even_fragments():
    assert pieces("<speak>Ready <break time='1s'/> go</speak>") == [
        Piece("Ready.", 1.0),
        Piece("go."),
    ]


def test_a_break_at_the_start_is_silence_alone():
    assert pieces("<speak><break time='2s'/>Go</speak>") == [Piece("", 2.0), Piece("Go.")]


def test_a_break_of_no_strength_is_none():
    text = "<speak>Dinner is <break strength='none'/> ready.</speak>"

    assert sum(piece.pause_s for piece in pieces(text)) == 0
