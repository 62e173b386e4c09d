"""Where a value comes from, and what is said about one that cannot be used."""

import dataclasses
from pathlib import Path

import pytest

from wyoming_moss_nano.errors import SettingsError
from wyoming_moss_nano.server.endpoint import (
    StdioEndpoint,
    TcpEndpoint,
    UnixEndpoint,
    parse_endpoint,
)
from wyoming_moss_nano.settings import Settings, default_data_dir, default_threads, flag_name


def test_without_anything_the_defaults_hold():
    settings = Settings.resolve({}, {})

    assert settings == Settings()
    assert settings.seed == 1234
    assert settings.model == "auto"
    assert settings.speech_options().max_frames == 375


def test_a_flag_wins_over_the_environment_and_that_over_the_default():
    environment = {"MOSS_NANO_SEED": "5", "MOSS_NANO_GAIN_DB": "-3.5"}

    settings = Settings.resolve({"seed": "7", "gain_db": None}, environment)

    assert (settings.seed, settings.gain_db) == (7, -3.5)


@pytest.mark.parametrize("option", dataclasses.fields(Settings), ids=lambda option: option.name)
def test_every_option_can_be_set_in_the_environment(option):
    values = {
        "data_dir": "/somewhere", "model": "embedded", "voice": "max", "sample_mode": "greedy",
        "stereo": "yes", "log_level": "debug", "log_format": "%(message)s",
        "uri": "stdio://,tcp://localhost:1", "zeroconf_host": "192.0.2.1, 2001:db8::1",
        "no_zeroconf": "1", "no_streaming": "true", "no_normalize": "1", "precision": "exact",
    }  # fmt: skip
    text = values.get(option.name, "3")

    settings = Settings.resolve({}, {f"MOSS_NANO_{option.name.upper()}": text})

    assert getattr(settings, option.name) == option.metadata["parse"](text)
    if option.name != "precision":  # there is but one
        assert getattr(settings, option.name) != getattr(Settings(), option.name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("seed", "many"),
        ("seed", "1.5"),
        ("threads", "0"),
        ("threads", "x"),
        ("gain_db", "loud"),
        ("sample_mode", "Greedy"),
        ("stereo", "maybe"),
        ("log_level", "verbose"),
        ("data_dir", ""),
    ],
)
def test_a_value_that_cannot_be_used_is_named_by_where_it_came_from(name, text):
    variable = f"MOSS_NANO_{name.upper()}"
    with pytest.raises(SettingsError, match=f"{variable} must be .*not {text!r}"):
        Settings.resolve({}, {variable: text})
    with pytest.raises(SettingsError, match=f"{flag_name(name)} must be .*not {text!r}"):
        Settings.resolve({name: text}, {})


@pytest.mark.parametrize(
    ("name", "text"),
    [("seed", "-1"), ("max_frames", "0"), ("trailing_silence", "nan"), ("gain_db", "inf")],
)
def test_a_value_out_of_range_is_refused(name, text):
    with pytest.raises(SettingsError, match=name.replace("_", " ")):
        Settings.resolve({name: text}, {})


def test_the_voices_file_comes_after_the_environment():
    def resolved(flags, environment):
        return Settings.resolve(flags, environment, {"default_voice": "max"}).default_voice

    assert resolved({}, {}) == "max"
    assert resolved({}, {"MOSS_NANO_DEFAULT_VOICE": "otto"}) == "otto"
    assert resolved({"default_voice": "fay"}, {"MOSS_NANO_DEFAULT_VOICE": "otto"}) == "fay"


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("tcp://localhost:1", TcpEndpoint("localhost", 1)),
        ("tcp://[::1]:10200", TcpEndpoint("::1", 10200)),
        ("unix:///run/moss.sock", UnixEndpoint(Path("/run/moss.sock"))),
        ("unix://moss.sock", UnixEndpoint(Path("moss.sock"))),
        ("stdio://", StdioEndpoint()),
    ],
)
def test_a_uri_says_where_to_listen(uri, expected):
    assert parse_endpoint(uri) == expected
    if "localhost" not in uri:
        assert str(expected) == uri


@pytest.mark.parametrize("uri", ["", "tcp://host", "tcp://:1", "http://host:1", "unix://", "10200"])
def test_what_is_no_such_uri_is_refused(uri):
    with pytest.raises(SettingsError, match="must be tcp://HOST:PORT, unix://PATH or stdio://"):
        parse_endpoint(uri)


def test_data_goes_where_the_user_keeps_data(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/data/of/me")
    assert default_data_dir() == Path("/data/of/me/wyoming-moss-nano")

    monkeypatch.setenv("HOME", "/home/me")
    for ignored in ("", "relative"):
        monkeypatch.setenv("XDG_DATA_HOME", ignored)
        assert default_data_dir() == Path("/home/me/.local/share/wyoming-moss-nano")


def test_threads_are_the_cores_this_process_may_use_four_at_most():
    assert 1 <= default_threads() <= 4
