"""Makes the embedded bundle: sound of a synthesizer, a codec, a model that learns to speak it."""
