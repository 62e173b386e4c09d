"""What the server says about itself when a client describes it."""

from wyoming.info import Attribution, Info, TtsProgram, TtsVoice

from .. import __version__
from ..voices.store import VoiceStore

# Home Assistant derives entity, title and discovery id from it: it never changes.
PROGRAM_NAME = "moss-nano"

_PROJECT = Attribution(name="wyoming-moss-nano", url="https://github.com/OpenMOSS/MOSS-TTS-Nano")
_OPENMOSS = Attribution(name="OpenMOSS", url="https://github.com/OpenMOSS/MOSS-TTS-Nano")


def build_info(kind: str, voices: VoiceStore, *, streaming: bool) -> Info:
    """Return what a client may ask for now: one program, its voices sorted, one language each."""
    maker = _OPENMOSS if kind == "official" else _PROJECT
    published = [
        TtsVoice(
            name=voice.name,
            attribution=_PROJECT,
            installed=True,
            description=voice.description,
            version=None,
            languages=[voice.language],
        )
        for voice in voices.published()
    ]
    program = TtsProgram(
        name=PROGRAM_NAME,
        attribution=maker,
        installed=True,
        description=f"MOSS-TTS-Nano, {kind} model",
        version=__version__,
        voices=published,
        supports_synthesize_streaming=streaming,
    )
    return Info(tts=[program])
