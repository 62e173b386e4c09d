"""A text and a voice become sound, as a listener, a file or several at once want it."""

import numpy as np
import pytest

from wyoming_moss_nano.engine.exact import ExactTransformer
from wyoming_moss_nano.engine.generator import Generator
from wyoming_moss_nano.engine.options import SpeechOptions
from wyoming_moss_nano.engine.pace import Listener, Recorder
from wyoming_moss_nano.engine.speech import Engine
from wyoming_moss_nano.engine.utterance import Frame, PieceEnd, Utterance
from wyoming_moss_nano.errors import SettingsError, SpeechError
from wyoming_moss_nano.model.sessions import Sessions, open_graph

RATE = 48000
TEXT = "Dinner is ready."
MODES = ("fixed", "greedy", "full")


@pytest.fixture(params=["tiny", "embedded"])
def engine(request):
    return request.getfixturevalue(f"{request.param}_engine")


def voice(engine, name=None):
    voices = engine.bundle.builtin_voices
    return voices[name or next(iter(voices))]


def speak(engine, text=TEXT, reference=None, pace=None, **options):
    reference = voice(engine) if reference is None else reference
    chunks = engine.speak(text, reference, SpeechOptions(**options), pace or Recorder())
    return np.concatenate(list(chunks))


def frames_of(utterance):
    events = iter(utterance.step, None)
    return [event.codes.tolist() for event in events if isinstance(event, Frame)]


@pytest.mark.parametrize("mode", MODES)
def test_a_sentence_becomes_sound_in_every_mode(engine, mode):
    pcm = speak(engine, sample_mode=mode)

    assert pcm.dtype == np.int16
    assert pcm.shape[1] == 1
    assert 0.5 * RATE < len(pcm) < 10 * RATE
    assert np.abs(pcm).max() > 1000


@pytest.mark.parametrize("mode", MODES)
def test_the_tiny_model_stops_after_about_four_frames_a_token(tiny_engine, mode, caplog):
    for text in (TEXT, "The front door has been open for ten minutes."):
        for reference in tiny_engine.bundle.builtin_voices.values():
            pieces = tiny_engine.pieces(text)
            options = SpeechOptions(sample_mode=mode)
            frames = frames_of(tiny_engine.utter(pieces, reference, options))
            assert 3 <= len(frames) / len(pieces[0]) <= 5
    assert not caplog.records


@pytest.mark.parametrize("mode", MODES)
def test_the_same_seed_is_the_same_speech(engine, mode):
    first, second = (speak(engine, sample_mode=mode, seed=7) for _ in range(2))

    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("mode", "differs"), [("fixed", True), ("full", True), ("greedy", False)])
def test_another_seed_is_other_speech_unless_nothing_is_left_to_chance(engine, mode, differs):
    first, second = (speak(engine, sample_mode=mode, seed=seed) for seed in (7, 8))

    assert (first.tobytes() != second.tobytes()) is differs


@pytest.mark.parametrize("mode", MODES)
def test_another_text_and_another_voice_sound_different(engine, mode):
    other = list(engine.bundle.builtin_voices)[1]
    spoken = speak(engine, sample_mode=mode)

    assert spoken.tobytes() != speak(engine, "Dinner is late.", sample_mode=mode).tobytes()
    in_other_voice = speak(engine, reference=voice(engine, other), sample_mode=mode)
    assert spoken.tobytes() != in_other_voice.tobytes()


def test_sound_comes_in_chunks_while_the_rest_is_being_made(engine):
    chunks = engine.speak(TEXT, voice(engine), SpeechOptions())

    first = next(chunks)
    rest = list(chunks)

    assert 0 < len(first) <= engine.bundle.codec.downsample_rate
    assert len(rest) > 3


def test_an_utterance_makes_one_frame_per_step_and_tells_where_a_piece_ends(tiny_engine):
    pieces = tiny_engine.pieces("Dinner is ready. Good night to you.")
    utterance = tiny_engine.utter(pieces, voice(tiny_engine), SpeechOptions())

    kinds = [type(event) for event in iter(utterance.step, None)]

    assert kinds.count(PieceEnd) == len(pieces) == 2
    assert kinds[-1] is PieceEnd
    assert utterance.idle
    assert utterance.step() is None


def test_an_utterance_goes_on_when_more_text_arrives(tiny_engine):
    first, second = tiny_engine.pieces("Dinner is ready. Good night to you.")
    whole = frames_of(tiny_engine.utter([first, second], voice(tiny_engine), SpeechOptions()))
    utterance = tiny_engine.utter([first], voice(tiny_engine), SpeechOptions())

    frames = frames_of(utterance)
    assert utterance.idle
    utterance.add(second)

    assert not utterance.idle
    assert frames + frames_of(utterance) == whole


def test_several_utterances_are_open_at_once_and_none_hears_the_others(engine):
    names = list(engine.bundle.builtin_voices)[:3]
    modes = ("fixed", "full", "greedy")

    def opened():
        return [
            engine.utter(
                engine.pieces(TEXT), voice(engine, name), SpeechOptions(sample_mode=mode, seed=seed)
            )
            for seed, (name, mode) in enumerate(zip(names, modes, strict=True))
        ]

    alone = [frames_of(utterance) for utterance in opened()]
    together = opened()
    heard = [[] for _ in together]
    while not all(utterance.idle for utterance in together):
        for utterance, frames in zip(together, heard, strict=True):
            event = utterance.step()
            if isinstance(event, Frame):
                frames.append(event.codes.tolist())

    assert heard == alone


def test_two_engines_share_nothing(tiny_bundle, tiny_engine):
    other = Engine.load(tiny_bundle, threads=1)

    np.testing.assert_array_equal(speak(other), speak(tiny_engine))


def test_leaving_early_ends_the_work(tiny_engine):
    chunks = tiny_engine.speak(TEXT * 50, voice(tiny_engine), SpeechOptions())
    next(chunks)

    chunks.close()

    assert next(chunks, None) is None


def test_a_listener_and_a_file_get_the_same_sound(engine):
    heard, written = (speak(engine, pace=pace).astype(int) for pace in (Listener(), Recorder()))

    assert heard.shape == written.shape
    # grouping changes the order of additions: 1e-4 of full scale is three steps of 16 bits
    assert np.abs(heard - written).max() <= 3


class Clock:
    """Time that passes only when told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(
    ("lead", "frames"), [(0.0, 1), (0.19, 1), (0.21, 2), (0.54, 2), (0.56, 4), (1.11, 4)]
)
def test_the_further_playback_lags_the_more_frames_are_decoded_at_once(lead, frames):
    clock = Clock()
    listener = Listener(clock)
    assert listener.frames_due() == 1

    listener.sent(2.0)
    clock.now += 2.0 - lead

    assert listener.frames_due() == frames


def test_a_listener_who_ran_dry_gets_the_next_frame_at_once():
    clock = Clock()
    listener = Listener(clock)
    listener.sent(2.0)
    clock.now += 5.0

    assert listener.frames_due() == 1


@pytest.mark.parametrize("text", ["", "  \n ", "😀😀", "**", ".", "...", "?!"])
def test_nothing_speakable_is_a_tenth_of_a_second_of_silence(engine, text, caplog):
    pcm = speak(engine, text)

    assert len(pcm) == RATE // 10
    assert not pcm.any()
    assert not caplog.records


def test_a_text_the_model_knows_nothing_of_is_silence_and_a_warning(embedded_engine, caplog):
    pcm = speak(embedded_engine, "你好")

    assert len(pcm) == RATE // 10
    assert not pcm.any()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "你好" not in caplog.text


def test_the_rest_of_a_text_is_spoken_where_the_model_knows_only_a_part(embedded_engine, caplog):
    spoken = speak(embedded_engine, "你好吗你好吗。 Dinner is ready.")

    np.testing.assert_array_equal(spoken, speak(embedded_engine, TEXT))
    assert "WARNING" in caplog.text


def test_what_is_spoken_is_not_logged(embedded_engine, caplog):
    caplog.set_level("INFO")

    speak(embedded_engine, "The secret is swordfish.")

    assert "swordfish" not in caplog.text
    assert "24 characters" in caplog.text


def test_pieces_are_joined_by_a_pause_and_followed_by_silence(tiny_engine):
    text = f"{TEXT} Good night to you."
    first = speak(tiny_engine, TEXT, trailing_silence=0)
    both = speak(tiny_engine, text, sentence_silence=0.5, trailing_silence=0.3)
    plain = speak(tiny_engine, text, sentence_silence=0, trailing_silence=0)

    assert len(both) - len(plain) == round(0.8 * RATE)
    pause = both[len(first) : len(first) + RATE // 2]
    assert not pause.any()
    assert not both[-round(0.3 * RATE) :].any()
    assert both[: -round(0.3 * RATE)][-1] != 0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("<speak>Dinner is ready. <break time='2s'/> Good night to you.</speak>", 2.0),
        # shorter than the pause between sentences, and still what was asked for
        ("<speak>Dinner is ready. <break time='100ms'/> Good night to you.</speak>", 0.1),
        ("<speak><break time='1s'/>Dinner is ready. Good night to you.</speak>", 1.5),
        ("<speak>Dinner is ready. Good night to you.<break time='1s'/></speak>", 1.5),
    ],
)
def test_a_break_takes_the_place_of_the_pause(tiny_engine, text, seconds):
    plain = speak(tiny_engine, "Dinner is ready. Good night to you.", sentence_silence=0)
    marked = speak(tiny_engine, text, sentence_silence=0.5)

    assert len(marked) - len(plain) == round(seconds * RATE)


def test_a_text_of_nothing_but_a_break_is_that_silence(tiny_engine):
    pcm = speak(tiny_engine, "<speak><break time='3s'/></speak>")

    assert len(pcm) == 3 * RATE
    assert not pcm.any()


def test_a_long_text_is_spoken_in_pieces_of_the_bundles_budget(tiny_engine):
    text = "one two three four five six seven eight nine ten, " * 12
    budget = tiny_engine.bundle.rules.max_text_tokens

    pieces = tiny_engine.pieces(text)

    assert len(pieces) > 1
    assert max(map(len, pieces)) <= budget


def test_stereo_has_both_channels_and_mono_is_their_average(engine):
    stereo = speak(engine, stereo=True).astype(int)
    single = speak(engine).astype(int)

    assert stereo.shape[1] == 2
    assert np.abs(stereo.mean(axis=1) - single[:, 0]).max() <= 1


def test_gain_that_would_clip_is_limited_and_counted(tiny_engine, caplog):
    caplog.set_level("INFO")

    pcm = speak(tiny_engine, gain_db=30)

    assert 30000 < np.abs(pcm).max() < 32767
    assert "limited to full scale" in caplog.text


def replaced_codec(engine, change):
    """An engine whose codec's sound is changed on the way out."""
    broken = Engine.load(engine.bundle, threads=1)
    stream = broken.codec.stream

    def changed_stream():
        decoder = stream()
        decode = decoder.decode
        decoder.decode = lambda codes: change(decode(codes))
        return decoder

    broken.codec.stream = changed_stream
    return broken


def test_sound_of_zeros_is_an_error(tiny_engine):
    with pytest.raises(SpeechError, match="no sound"):
        speak(replaced_codec(tiny_engine, np.zeros_like))


def test_dead_air_inside_a_sentence_is_shortened(tiny_engine, caplog):
    caplog.set_level("INFO")
    count = iter(range(1000))

    def dies_for_a_while(sound):
        return sound if next(count) in (0, 3) else sound * 0

    text = "The front door has been open for ten minutes."
    normal = speak(tiny_engine, text)
    shortened = speak(replaced_codec(tiny_engine, dies_for_a_while), text)

    assert len(shortened) < len(normal)
    assert "Shortened near-silence" in caplog.text


def test_guards_do_not_change_the_frames(tiny_engine):
    pieces = tiny_engine.pieces(TEXT)
    plain = frames_of(tiny_engine.utter(pieces, voice(tiny_engine), SpeechOptions()))
    guarded = SpeechOptions(gain_db=30, sentence_silence=1, trailing_silence=1, stereo=True)

    assert frames_of(tiny_engine.utter(pieces, voice(tiny_engine), guarded)) == plain


def test_a_model_that_makes_no_frame_at_all_is_an_error(tiny_engine, tiny_bundle, caplog):
    class Mute:
        def sampler(self, _mode):
            return self

        def frames(self, _hidden, turns):
            return [None for _ in turns]

    transformer = ExactTransformer(tiny_bundle, Sessions(tiny_bundle, threads=1))
    generator = Generator(tiny_bundle, transformer, Mute())
    utterance = Utterance(generator, voice(tiny_engine), SpeechOptions())
    utterance.add([280])
    sound = tiny_engine.sound(SpeechOptions(), Recorder())

    sound.take([utterance.step()])

    with pytest.raises(SpeechError, match="another seed, voice or wording"):
        sound.finish()
    assert "no sound for a piece" in caplog.text


@pytest.fixture
def opened(monkeypatch):
    """Return the names of the graph files that are loaded from now on."""
    names = []

    def open_and_note(path, threads, *shared, **options):
        names.append(path.name)
        return open_graph(path, threads, *shared, **options)

    monkeypatch.setattr("wyoming_moss_nano.model.sessions.open_graph", open_and_note)
    monkeypatch.setattr("wyoming_moss_nano.model.compiled.open_graph", open_and_note)
    return names


def test_warming_up_opens_the_graphs_that_speaking_needs_and_says_nothing(
    tiny_bundle, opened, caplog
):
    engine = Engine.load(tiny_bundle, threads=1)

    engine.warm_up(voice(engine))

    assert sorted(opened) == [
        "moss_audio_tokenizer_decode_step.onnx",
        "moss_tts_decode_step.onnx",
        "moss_tts_local_fixed_sampled_frame.onnx",
        "moss_tts_prefill.onnx",
    ]
    assert not caplog.records


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_compiled_graphs_speak_without_the_published_ones(new_compiled_engine, opened, precision):
    engine = new_compiled_engine(precision)
    opened.clear()  # of what proving it took

    speak(engine)

    assert sorted(opened) == [
        "language.onnx",
        "moss_audio_tokenizer_decode_step.onnx",
        "sampled_frame.onnx",
    ]


@pytest.mark.parametrize(
    ("mode", "chooses"),
    [("greedy", "greedy_frame.onnx"), ("full", "moss_tts_local_cached_step.onnx")],
)
def test_only_the_graph_that_chooses_codes_depends_on_the_mode(
    new_compiled_engine, opened, mode, chooses
):
    engine = new_compiled_engine("fp32")
    opened.clear()

    speak(engine, sample_mode=mode)

    assert set(opened) == {"language.onnx", "moss_audio_tokenizer_decode_step.onnx", chooses}


@pytest.mark.parametrize(
    "options",
    [
        {"seed": -1},
        {"sample_mode": "loud"},
        {"max_frames": 0},
        {"sentence_silence": -0.1},
        {"trailing_silence": float("nan")},
        {"gain_db": float("inf")},
    ],
)
def test_options_out_of_range_are_refused_by_name(options):
    with pytest.raises(SettingsError, match=next(iter(options)).replace("_", " ")):
        SpeechOptions(**options)
