"""What is written in figures and signs, as words, by language."""


def speak(sentence: str, language: str) -> str:
    del language  # no language has rules yet
    """Return a clean sentence as it is spoken; unchanged in a language without rules."""
    return sentence
