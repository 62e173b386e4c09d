"""The subcommands about models: show, random."""

import argparse
import os
from pathlib import Path

from ..errors import SettingsError
from ..model.compiled import COMPILED_PRECISIONS, find_compiled
from .precision import Precision, figures_text
from .workspace import Workspace, tell


def show(_parsed: argparse.Namespace, workspace: Workspace) -> None:
    """Print what the chosen model is and holds."""
    bundle = workspace.bundle()
    voices = workspace.voices(bundle)
    files = {*bundle.tts_graphs.files(), *bundle.codec_graphs.files(), bundle.tokenizer}
    size = sum(path.stat().st_size for path in files)
    config, codec = bundle.config, bundle.codec
    rows = {
        "model": f"{bundle.rules.kind}, in {bundle.directory}",
        "bundle id": bundle.bundle_id,
        "codec id": bundle.codec_id,
        "size": f"{size / 1e6:.1f} MB in {len(files)} files",
        "language model": f"{config.global_layers} global layers of {config.hidden_size}, "
        f"{config.local_layers} local, {config.vocab_size} tokens",
        "codec": f"{codec.sample_rate} Hz, {codec.channels} channels, "
        f"{codec.quantizers} codebooks of {max(config.codebook_sizes)}, "
        f"{codec.sample_rate / codec.downsample_rate:g} frames/s",
        "text": f"pieces of at most {bundle.rules.max_text_tokens} tokens",
        **_precisions(Precision(workspace, bundle)),
        "languages": " ".join(bundle.rules.languages),
        "default voice": voices.default,
    }
    rows |= {f"voice {name}": voices.describe(name) for name in voices.names()}
    width = max(map(len, rows))
    tell("\n".join(f"{label:<{width}}  {value}" for label, value in rows.items()))


def _precisions(precision: Precision) -> dict[str, str]:
    """Return what the model would speak with, and how good every compiled form of it is."""
    chosen = precision.compiled()
    rows = {"precision": chosen.precision if chosen is not None else "exact"}
    for name in COMPILED_PRECISIONS:
        found = find_compiled(precision.compiled_dir, precision.bundle, name)
        if found is not None:
            rows[f"compiled {name}"] = f"{figures_text(found)}; in {found.folder}"
    return rows


def random(parsed: argparse.Namespace, _workspace: Workspace) -> None:
    """Write a bundle with random weights."""
    tell(str(random_bundle_folder(parsed.size, parsed.weights_seed, parsed.directory)))


def random_bundle_folder(size: str, seed: int, folder: Path | None = None) -> Path:
    """Return a folder with a random bundle, which is made if it is not there.

    Args:
        size: tiny or official.
        seed: decides its weights.
        folder: where; without it, in the user's cache.
    """
    try:
        from ..model import random_bundle  # noqa: PLC0415 - needs the extra
    except ImportError as error:
        raise SettingsError(
            f"random bundles need the package {error.name}: pip install 'wyoming-moss-nano[all]'"
        ) from error
    dimensions = {"tiny": random_bundle.TINY, "official": random_bundle.OFFICIAL}[size]
    folder = folder or _cache_dir() / f"random-{size}-{seed}"
    if not (folder / "complete").exists():
        random_bundle.build_random_bundle(folder, dimensions, seed=seed)
        (folder / "complete").touch()
    return folder


def _cache_dir() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return home / "wyoming-moss-nano"
