"""Abbreviations behind whose full stop a sentence goes on, by language."""

from typing import Final

# Languages that write ordinals with a full stop: "am 3. Oktober".
ORDINAL_DOT: Final = frozenset("cs da de et fi hr hu lt lv nb no pl sk sl sr tr".split())

_NEVER: Final = {
    "": "dr prof st mr mrs ms tel sra",
    "en": "approx e.g i.e vs lt sgt capt rev gen viz cf mt ft",
    "de": "z.b d.h u.a ca bzw bspw hr fr dipl ing evtl ggf inkl exkl zzgl vgl sog i.d.r v.a",
    "fr": "p.ex env mme mlle mgr av bd",
    "es": "p.ej ej aprox dña srta avda av",
    "it": "p.es ca sig sig.ra dott avv",
    "nl": "bijv bv d.w.z o.a ca dhr mevr ir drs incl excl",
    "pt": "p.ex aprox dra eng av",
}
# These end a sentence where a capital follows, and none before a number or a small letter.
_SELDOM: Final = {
    "": "etc inc ltd co corp jr sr no nr vol fig art ed min max a.m p.m",
    "en": "am pm hr hrs sec rd blvd ave est dept avg temp jan feb mar apr jun jul aug sep sept oct "
    "nov dec",
    "de": "usw u.s.w std sek tgl jh mind jan feb mär apr jun jul aug sep sept okt nov dez",
    "fr": "env janv févr avr juil sept oct nov déc m mm",
    "es": "pág núm uds ene feb mar abr jun jul ago sept oct nov dic",
    "it": "ecc pag gen feb mar apr mag giu lug ago set ott nov dic",
    "nl": "enz jan feb mrt apr jun jul aug sep okt nov dec",
    "pt": "pág jan fev mar abr mai jun jul ago set out nov dez",
}


def never_ends(word: str, language: str) -> bool:
    """Return whether a sentence always goes on behind a word with a full stop."""
    return _has(_NEVER, word, language)


def seldom_ends(word: str, language: str) -> bool:
    """Return whether it depends on what follows whether a word with a full stop ends a sentence."""
    return _has(_SELDOM, word, language)


def _has(lists: dict[str, str], word: str, language: str) -> bool:
    known = f" {lists['']} {lists.get(language, '')} "
    return bool(word) and " " not in word and f" {word.lower()} " in known
