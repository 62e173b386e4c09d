from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wyoming_moss_nano.text.clean import clean_sentence
from wyoming_moss_nano.text.reading import Reading
from wyoming_moss_nano.text.speaking import speak

TABLES = Path(__file__).parent / "spoken"
LANGUAGES = sorted(path.stem for path in TABLES.glob("*.txt"))


def pairs(language):
    lines = (TABLES / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    return [line.rsplit(" -> ", 1) for line in lines if line and not line.startswith("#")]


def spoken(text, language):
    return speak(clean_sentence(text, at_line_start=True), language)


@pytest.mark.parametrize(
    ("language", "written", "expected"),
    [(language, *pair) for language in LANGUAGES for pair in pairs(language)],
)
def test_what_is_written_is_said_as_a_listener_understands_it(language, written, expected):
    assert spoken(written, language) == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_words_already_stays_so(language):
    for _, expected in pairs(language):
        if language != "en":
            assert speak(expected, language) == expected


@settings(deadline=None)
@given(st.text(), st.sampled_from(["", "ja", "ko", "ar", "xx"]))
def test_a_language_without_rules_is_untouched(text, language):
    assert speak(text, language) == text


@pytest.mark.parametrize(
    "text", ["Сегодня 5 °C.", "اليوم 5 درجات.", "आज 5 डिग्री है।", "오늘은 5도이다."]
)
@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "zh"])
def test_text_in_another_script_is_left_as_it_is(text, language):
    assert speak(text, language) == text


FIGURES = st.text(alphabet="0123456789.,:-–/ %°C€$kWh#x+()'½²me", max_size=30)


@settings(deadline=None)
@given(FIGURES, st.sampled_from(LANGUAGES))
def test_of_figures_nothing_is_left_but_words(text, language):
    assert not set(spoken(text, language)) & set("0123456789")


def test_chinese_voices_leave_english_text_alone():
    assert speak("Please open 2 windows.", "zh") == "Please open 2 windows."


def test_rules_can_be_turned_off():
    assert Reading("en", normalize=False).speak("It is 5 °C.") == "It is 5 °C."


@pytest.mark.parametrize(
    ("entries", "text", "expected"),
    [
        ({"moss": "mohs"}, "MOSS and Moss and mosses", "mohs and mohs and mosses"),
        ({"MOSS": "mohs"}, "MOSS and Moss", "mohs and Moss"),
        # before the rules spell it
        ({"HDMI": "haich dee em eye"}, "the HDMI port", "the haich dee em eye port"),
        # and behind them
        ({"kilowatt hours": "units"}, "5 kWh", "five units"),
        ({"living room": "lounge", "room": "chamber"}, "living room, room", "lounge, chamber"),
        ({"c++": "see plus plus"}, "in C++ now", "in see plus plus now"),
        ({"one": "1"}, "1 one", "1 1"),
    ],
)
def test_the_users_own_words_have_the_last_word(entries, text, expected):
    assert Reading("en", pronounce=entries).speak(text) == expected


@settings(deadline=None)
@given(st.dictionaries(st.text(min_size=1), st.text()), st.text())
def test_any_entry_can_be_pronounced(entries, text):
    Reading("en", pronounce=entries).speak(text)
