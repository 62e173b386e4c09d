"""What is read character group by character group in any language: addresses, versions, ids."""

import re
from collections.abc import Callable
from typing import Final

from .language import Language

_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@\w[\w-]*(?:\.[\w-]+)+")
_URL: Final = re.compile(
    r"(?:https?|ftp|wss?|rtsp)://[^\s\"')\],;]+|(?<![\w.@/])www\.[^\s\"')\],;]+"
)
_TOP_LEVEL: Final = (
    "com|org|net|io|de|fr|es|it|nl|pt|br|cn|uk|eu|ch|at|local|gov|edu|dev|app|info|co"
)
_DOMAIN: Final = re.compile(
    rf"(?<![\w.@/-])(?:[a-zA-Z][\w-]*\.)+(?:{_TOP_LEVEL})(?![\w-]|\.\w)(?:/[\w/-]*)?"
)
_IP: Final = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5}|/\d{1,2})?(?![\w]|\.\d)")
_VERSION: Final = re.compile(
    r"(?<![\w.,])(?P<v>[vV])?(?P<number>\d+(?:\.\d+){2,4})(?P<rest>[-]?(?:beta|alpha|rc|b|a)\.?\d*)?"
    r"(?![\w]|[.,]\d)|(?<![\w.])[vV](?P<short>\d+(?:\.\d+)*)(?!\w|\.\d)"
)
_ENTITY: Final = re.compile(r"(?<![\w./@])[a-z][a-z0-9_]*\.[a-z0-9]*_[a-z0-9_]*(?![\w./@])")
_DOMAINS: Final = (
    "sensor|light|switch|climate|cover|lock|fan|media_player|binary_sensor|automation|script|scene|"
    "input_boolean|vacuum|camera|person|zone|weather|timer|alarm_control_panel|device_tracker"
)
_KNOWN_ENTITY: Final = re.compile(rf"(?<![\w./@])(?:{_DOMAINS})\.[a-z0-9_]+(?![\w./@])")
_SNAKE: Final = re.compile(r"(?<!\w)[^\W_]+(?:_+[^\W_]+)+(?!\w)")

_DATE: Final = re.compile(r"[0-3]?\d\.[01]?\d\.(?:19|20)\d\d")
_GROUPED: Final = re.compile(r"\d{1,3}(?:\.\d{3})+")
_RELEASE: Final = re.compile(r"[a-z]+|\d+")

Sub = Callable[[re.Match[str]], str]


class Addresses:
    """Reads e-mail addresses, URLs, IP addresses, versions and ids in a language's words."""

    def __init__(self, language: Language) -> None:
        self._numerals = language.numerals
        self._signs = language.signs
        self._grouped = language.numerals.thousands == "."

    def __call__(self, text: str) -> str:
        """Return a sentence with all of them as words."""
        rules: list[tuple[re.Pattern[str], Sub]] = [
            (_EMAIL, self._email),
            (_URL, self._url),
            (_ENTITY, lambda found: _split(found[0])),
            (_KNOWN_ENTITY, lambda found: _split(found[0])),
            (_IP, self._ip),
            (_VERSION, self._version),
            (_DOMAIN, lambda found: self._spoken(found[0])),
            (_SNAKE, lambda found: _split(found[0])),
        ]
        for pattern, rule in rules:
            text = pattern.sub(rule, text)
        return text

    def _spoken(self, text: str) -> str:
        signs = self._signs
        words = {
            ".": signs.dot,
            "/": signs.slash,
            "@": signs.at,
            "_": " ",
            "-": " ",
            "+": signs.plus,
        }
        return " ".join("".join(f" {words[c]} " if c in words else c for c in text).split())

    def _email(self, found: re.Match[str]) -> str:
        return self._spoken(found[0])

    def _url(self, found: re.Match[str]) -> str:
        # what follows a question mark is for machines
        address = found[0].split("://")[-1].removeprefix("www.")
        address = re.split(r"[?#]", address)[0].rstrip("/")
        bare = address.rstrip(".!:")
        host, slash, path = bare.partition("/")
        host, colon, port = host.partition(":")
        spoken = self._spoken(host) if not _IP.fullmatch(host) else self._ip_digits(host)
        if colon and port:
            spoken += f", {self._numerals.digits(port)}"
        if slash:
            spoken += f" {self._signs.slash} {self._spoken(path)}"
        return spoken + address[len(bare) :]

    def _ip(self, found: re.Match[str]) -> str:
        host, separator, rest = re.fullmatch(r"([\d.]+)([:/]?)(\d*)", found[0]).groups()  # type: ignore[union-attr]
        spoken = self._ip_digits(host)
        if separator == "/":
            return f"{spoken} {self._signs.slash} {self._numerals.cardinal(rest)}"
        return f"{spoken}, {self._numerals.digits(rest)}" if rest else spoken

    def _ip_digits(self, host: str) -> str:
        return f" {self._signs.dot} ".join(map(self._numerals.digits, host.split(".")))

    def _version(self, found: re.Match[str]) -> str:
        if _DATE.fullmatch(found[0]) or (self._grouped and _GROUPED.fullmatch(found[0])):
            return found[0]
        numbers = (found["number"] or found["short"]).split(".")
        spoken = [self._part(number, first=i == 0) for i, number in enumerate(numbers)]
        version = "version " if found["v"] or found["short"] else ""
        tail = " ".join(map(self._release, _RELEASE.findall(found["rest"] or "")))
        return f"{version}{f' {self._signs.point} '.join(spoken)} {tail}".strip()

    def _release(self, part: str) -> str:
        if part.isdecimal():
            return self._numerals.cardinal(part)
        return {"b": "beta", "a": "alpha", "rc": "R C"}.get(part, part)

    def _part(self, number: str, *, first: bool) -> str:
        if first and re.fullmatch(r"20\d\d", number):
            return self._numerals.year(number)
        return self._numerals.cardinal(number)


def _split(text: str) -> str:
    return re.sub(r"[._\s]+", " ", text).strip()
