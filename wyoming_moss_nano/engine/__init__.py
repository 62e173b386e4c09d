"""Pieces of text and a voice in, PCM out; knows nothing of networks or files."""
