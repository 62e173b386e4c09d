"""What is written in figures and signs, as words, by language."""

from .speaker import speak

__all__ = ["speak"]
