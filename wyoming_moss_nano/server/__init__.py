"""The Wyoming protocol: events in, audio events out."""
