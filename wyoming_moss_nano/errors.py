"""Everything that can go wrong for a person to read: one family, messages that say what to do."""


class MossNanoError(Exception):
    """Base of all errors this project raises on purpose; its text is one line for a person."""


class SettingsError(MossNanoError):
    """An option, an environment variable or a settings file has a value that cannot be used."""


class BundleError(MossNanoError):
    """Model files are missing, damaged, or do not fit together."""


class VoiceError(MossNanoError):
    """A voice or a reference recording is unknown or cannot be used."""


class SpeechError(MossNanoError):
    """Speech could not be generated from a text and a voice that were both accepted."""


class QueueFullError(SpeechError):
    """Too many requests are being spoken and waiting already."""


class ServerError(MossNanoError):
    """The server cannot listen where it was told to."""


class ModelNotReadyError(SpeechError):
    """The model is still on its way to this machine."""


class DownloadError(MossNanoError):
    """The official model could not be fetched, checked or put in place."""
