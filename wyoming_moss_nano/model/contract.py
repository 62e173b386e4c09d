"""Which inputs and outputs each graph of a bundle must have, derived from its metadata."""

from dataclasses import dataclass

from ..errors import BundleError
from .graph_file import GraphFile, Port
from .metadata import CodecConfig, ModelConfig

_Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class GraphContract:
    """The ports one graph must have; a ``None`` dimension may be anything."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


def tts_contracts(config: ModelConfig) -> dict[str, GraphContract]:
    """Return the contracts of the five language-model graphs by their metadata names."""
    hidden = _float("global_hidden", None, config.hidden_size)
    text_logits = _float("text_logits", None, config.vocab_size)
    audio_logits = _float("audio_logits", None, config.n_vq, max(config.codebook_sizes))
    rows = _int("input_ids", None, None, config.row_width)
    global_hidden = _float("global_hidden", None, None, config.hidden_size)
    present = _key_values(config, "present")
    return {
        "prefill": GraphContract(
            (rows, _int("attention_mask", None, None)), (global_hidden, *present)
        ),
        "decode_step": GraphContract(
            (rows, _int("past_valid_lengths", None), *_key_values(config, "past")),
            (global_hidden, *present),
        ),
        "local_decoder": GraphContract(
            (
                hidden,
                _int("text_token_id", None),
                _int("audio_prefix_token_ids", None, config.n_vq - 1),
            ),
            (text_logits, audio_logits),
        ),
        "local_cached_step": GraphContract(
            (
                hidden,
                *(_int(name, None) for name in LOCAL_STEP_SCALARS),
                *_local_key_values(config, "local_past"),
            ),
            (text_logits, audio_logits, *_local_key_values(config, "local_present")),
        ),
        "local_fixed_sampled_frame": GraphContract(
            (
                hidden,
                _int("repetition_seen_mask", None, config.n_vq, max(config.codebook_sizes)),
                _float("assistant_random_u", None),
                _float("audio_random_u", None, config.n_vq),
            ),
            (_int("should_continue", None, 1), _int("frame_token_ids", None, config.n_vq)),
        ),
    }


LOCAL_STEP_SCALARS = (
    "text_token_id",
    "audio_token_id",
    "channel_index",
    "step_type",
    "past_valid_lengths",
)


def codec_contracts(codec: CodecConfig) -> dict[str, GraphContract]:
    """Return the contracts of the three codec graphs by their metadata names."""
    codes = (_int("audio_codes", None, None, codec.quantizers), _int("audio_code_lengths", None))
    sound = (_float("audio", None, codec.channels, None), _int("audio_lengths", None))
    return {
        "encode": GraphContract(
            (_float("waveform", None, codec.channels, None), _int("input_lengths", None)), codes
        ),
        "decode_full": GraphContract(codes, sound),
        "decode_step": GraphContract(
            (*codes, *(Port(t.input_name, t.element_type, t.shape) for t in codec.state)),
            (*sound, *(Port(t.output_name, t.element_type, t.shape) for t in codec.state)),
        ),
    }


def check_graph(graph: GraphFile, contract: GraphContract) -> None:
    """Check a graph's real ports against what the metadata promises.

    A graph may have more outputs than promised, but an input nobody feeds is refused.

    Raises:
        BundleError: a port is missing, of another type or rank, or a dimension both fix differs.
    """
    for kind, wanted, found in (
        ("input", contract.inputs, graph.inputs),
        ("output", contract.outputs, graph.outputs),
    ):
        by_name = {port.name: port for port in found}
        for port in wanted:
            if port.name not in by_name:
                raise BundleError(
                    f"{graph.path} has no {kind} {port.name}, which its metadata names"
                )
            _check_port(graph, kind, port, by_name[port.name])
    unfed = {port.name for port in graph.inputs} - {port.name for port in contract.inputs}
    if unfed:
        raise BundleError(f"{graph.path} wants an input {min(unfed)}, which its metadata lacks")


def _check_port(graph: GraphFile, kind: str, wanted: Port, found: Port) -> None:
    if wanted.element_type != found.element_type:
        raise BundleError(
            f"{graph.path}: {kind} {wanted.name} is {found.element_type}, not {wanted.element_type}"
        )
    same_rank = len(wanted.shape) == len(found.shape)
    if not same_rank or any(
        w != f for w, f in zip(wanted.shape, found.shape, strict=True) if w is not None and f
    ):
        raise BundleError(
            f"{graph.path}: {kind} {wanted.name} has shape {_shape_text(found.shape)}, "
            f"but the metadata says {_shape_text(wanted.shape)}"
        )


def _shape_text(shape: _Shape) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def _int(name: str, *shape: int | None) -> Port:
    return Port(name, "int32", shape)


def _float(name: str, *shape: int | None) -> Port:
    return Port(name, "float32", shape)


def _key_values(config: ModelConfig, when: str) -> list[Port]:
    shape = (None, None, config.global_heads, config.head_dim)
    return [
        _float(f"{when}_{part}_{layer}", *shape)
        for layer in range(config.global_layers)
        for part in ("key", "value")
    ]


def _local_key_values(config: ModelConfig, when: str) -> list[Port]:
    shape = (None, None, config.local_heads, config.local_head_dim)
    return [
        _float(f"{when}_{part}_{layer}", *shape)
        for layer in range(config.local_layers)
        for part in ("key", "value")
    ]
