"""The rows of a request, whatever the voice and the text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wyoming_moss_nano.engine.prompt import PromptLayout
from wyoming_moss_nano.model.metadata import PromptTemplates, TokenIds

IDS = TokenIds(
    audio_pad=1024, pad=3, im_start=4, im_end=5, audio_start=6, audio_end=7,
    audio_user_slot=8, audio_assistant_slot=9,
)  # fmt: skip

# As long as the official templates: 12, 56 and 6 ids.
OFFICIAL = PromptLayout(
    IDS,
    PromptTemplates(tuple(range(600, 612)), tuple(range(700, 756)), tuple(range(800, 806))),
    codebooks=16,
)

TEXT_IDS = st.lists(st.integers(15, 16383), max_size=75)


@st.composite
def references(draw, codebooks=16, codes=1024):
    frames = draw(st.integers(1, 40))
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    return generator.integers(0, codes, (frames, codebooks), dtype=np.int32)


@given(references(), TEXT_IDS)
def test_a_prompt_has_77_rows_more_than_frames_and_tokens_with_the_official_templates(
    reference, text
):
    rows = OFFICIAL.prompt(reference, text)

    assert rows.shape == (77 + len(reference) + len(text), 17)
    assert rows.dtype == np.int32


@pytest.mark.parametrize("name", ["tiny", "embedded"])
@given(data=st.data())
def test_its_length_is_the_templates_three_marks_the_frames_and_the_tokens(name, data, request):
    bundle = request.getfixturevalue(f"{name}_bundle")
    templates = bundle.templates
    reference = data.draw(references(codes=min(bundle.config.codebook_sizes)))
    text = data.draw(st.lists(st.integers(10, bundle.config.vocab_size - 1), max_size=75))

    rows = PromptLayout.of(bundle).prompt(reference, text)

    fixed = templates.before_reference + templates.after_reference + templates.assistant
    assert len(rows) == len(fixed) + 3 + len(reference) + len(text)
    assert rows.shape[1] == bundle.config.row_width


@given(references(), TEXT_IDS)
def test_the_text_cells_tell_the_story_in_order(reference, text):
    cells = OFFICIAL.prompt(reference, text)[:, 0].tolist()

    assert cells == [
        *range(600, 612), 6, *[8] * len(reference), 7, *range(700, 756),
        *text, *range(800, 806), 6,
    ]  # fmt: skip


@given(references(), TEXT_IDS)
def test_codes_stand_in_reference_rows_and_padding_everywhere_else(reference, text):
    rows = OFFICIAL.prompt(reference, text)
    is_reference = rows[:, 0] == 8

    np.testing.assert_array_equal(rows[is_reference, 1:], reference)
    assert (rows[~is_reference, 1:] == 1024).all()


@given(references(), TEXT_IDS)
def test_the_rows_before_the_text_depend_on_the_voice_alone(reference, text):
    voice = OFFICIAL.voice_rows(reference)

    np.testing.assert_array_equal(OFFICIAL.prompt(reference, text)[: len(voice)], voice)


def test_a_made_frame_goes_back_in_the_assistants_slot():
    frame = np.arange(16, dtype=np.int32)

    assert OFFICIAL.frame_row(frame).tolist() == [[9, *range(16)]]


@pytest.mark.parametrize("name", ["tiny", "embedded"])
def test_ids_are_those_of_the_bundles_metadata(name, request):
    bundle = request.getfixturevalue(f"{name}_bundle")
    reference = next(iter(bundle.builtin_voices.values()))

    cells = PromptLayout.of(bundle).prompt(reference, [])[:, 0].tolist()

    assert cells.count(bundle.ids.audio_user_slot) == len(reference)
    assert cells[-1] == bundle.ids.audio_start
    assert bundle.ids.audio_end in cells
