"""Model files on disk in, ONNX Runtime sessions out."""
