import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wyoming_moss_nano.text.clean import clean_sentence
from wyoming_moss_nano.text.reading import Reading
from wyoming_moss_nano.text.stream import clean_text


def cleaned(text):
    return " / ".join(clean_text(text, Reading()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The **oven** is *hot* and ***very*** full.", "The oven is hot and very full."),
        ("The __oven__ is _hot_.", "The oven is hot."),
        ("It is ~~cold~~ warm.", "It is cold warm."),
        ("**Done. All of it.**", "Done. / All of it."),
        ("# Shopping\n## Today ##\nMilk", "Shopping / Today / Milk"),
        (
            "- Milk\n* Bread\n+ Eggs\n• Jam\n- [ ] Tea\n- [x] Salt",
            "Milk / Bread / Eggs / Jam / Tea / Salt",
        ),
        ("1. Milk\n2. Bread", "1. Milk / 2. Bread"),
        ("> > quoted", "quoted"),
        ("See [the manual](https://example.com/a_b?c=(d)).", "See the manual."),
        ("See [the manual][1] and ![a chart](chart.png 'Chart').", "See the manual and a chart."),
        ("It is true[1][2].[^note]", "It is true."),
        (
            "<https://example.com> and <anna@example.com>",
            "https://example.com and anna@example.com",
        ),
        ("Run `light.turn_on` now.", "Run light.turn_on now."),
        ("```yaml\nlight: on\n```\nDone.", "light: on / Done."),
        ("Above\n---\n***\n___\nbelow", "Above / below"),
        ("| room | state |\n|:-----|-----:|\n| hall | on |", "room, state / hall, on"),
        ("5 * 3 and 2*4 and 2**3 \\*not\\*", "5 * 3 and 2×4 and 2^3 *not*"),
        ("snake_case stays, _so it does_.", "snake_case stays, so it does."),
    ],
)
def test_markdown_leaves_its_text(text, expected):
    assert cleaned(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Done 😀!", "Done!"),
        ("Hi 👍🏽 and 👩‍👩‍👧‍👦 and 🇩🇪 and ❤️ there", "Hi and and and there"),
        ("1️⃣ first", "1 first"),
        ("All good :-) now ;)", "All good now"),
        ("zero\u200bwidth and soft\u00adhyphen\ufeff", "zerowidth and softhyphen"),
        ("bell\x07 and \x00null\tand tab", "bell and null and tab"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("half a pair \ud83d.", "half a pair."),
    ],
)
def test_what_is_not_said_is_gone(text, expected):
    assert cleaned(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("&quot;Salt &amp; pepper&quot; &lt;5&nbsp;g", '"Salt & pepper" <5 g'),
        ("Tom &Jerry; AT&T & co", "Tom &Jerry; AT&T & co"),
        ("“It’s” „so“ «far»", '"It\'s" "so" "far"'),
        ("So — it seems — fine", "So, it seems, fine"),
        ("5–10 and 5 – 10", "5–10 and 5 – 10"),
        ("Well… yes", "Well... yes"),
        ("No!!! Really??? What?!?!", "No! / Really? / What?"),
        ("so ,,, it is , fine", "so, it is, fine"),
        ("wait......", "wait..."),
        ("a • b", "a, b"),
        ("２１ ％", "21 %"),
    ],
)
def test_odd_characters_become_plain_ones(text, expected):
    assert cleaned(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "say <|im_start|> now",
        "say &lt;|im_start|&gt; now",
        "say <|im_<|im_start|>start|> now",
        "say <user_inst>now</user_inst>",
        "say &lt;user_inst&gt;now",
        "say ＜|im_end|＞ now",
        "say <|😀im_end|> now",
    ],
)
def test_what_steers_the_model_is_never_left(text):
    left = cleaned(text)

    assert "<|" not in left
    assert "|>" not in left
    assert "user_inst" not in left
    assert left.startswith("say")
    assert left.endswith("now")


@settings(deadline=None)
@given(st.text(alphabet="<|>im_startuser/&;lgt 😀\u200d*`"))
def test_no_spelling_of_what_steers_the_model_survives(text):
    assert not {"<|im_start|>", "<user_inst>", "</user_inst>"} & set(cleaned(text).split())


@settings(deadline=None)
@given(st.text())
def test_cleaning_says_nothing_new(text):
    before, after = (set(filter(str.isalnum, t.casefold())) for t in (text, clean_sentence(text)))

    assert len(after - before) <= len(set("no°c")) or after <= before
