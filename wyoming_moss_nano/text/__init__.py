"""Text in, speakable pieces out: pure functions."""
