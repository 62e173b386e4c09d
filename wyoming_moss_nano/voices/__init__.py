"""Recordings in, encoded and authorised references out."""
