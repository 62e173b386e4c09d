"""From published graphs to weights, by walking their structure; refuses what it does not know."""

from collections.abc import Sequence

from ..bundle import Bundle
from ..metadata import ModelConfig
from .published import Product, PublishedGraph
from .weights import Block, GlobalWeights, LocalWeights, Norm, Transformer, Values

# Heads of other widths are refused by ONNX Runtime's operator for attention.
_HEAD_WIDTH_UNIT = 16

# Of one layer, in graph order: queries with keys and values, attention out, MLP in, MLP out.
_PRODUCTS_PER_LAYER = 4
_NORMS_PER_LAYER = 2


def read_global(bundle: Bundle) -> GlobalWeights:
    """Read the global transformer from the prefill graph.

    Raises:
        CannotCompileError: the graph is not built as the publisher's exporter builds it.
    """
    graph, config = PublishedGraph(bundle.tts_graphs.paths["prefill"]), bundle.config
    for width in (config.head_dim, config.local_head_dim):
        if width % _HEAD_WIDTH_UNIT:
            raise graph.refuse(f"its heads are {width} wide, no multiple of {_HEAD_WIDTH_UNIT}")
    tables: dict[int, str] = {}
    for lookup in graph.lookups("input_ids"):
        if len(lookup.columns) != 1 or not lookup.columns.isdisjoint(tables):
            raise graph.refuse(f"{lookup.table} is not read by one column of the rows")
        tables[min(lookup.columns)] = lookup.table
    if sorted(tables) != list(range(config.row_width)):
        raise graph.refuse(f"it reads embeddings for {len(tables)} of {config.row_width} columns")
    products = graph.products()
    _check_count(graph, "linear layers", products, _PRODUCTS_PER_LAYER * config.global_layers)
    weights = GlobalWeights(
        text_embedding=graph.values(tables[0]),
        audio_embeddings=tuple(graph.values(tables[book + 1]) for book in range(config.n_vq)),
        transformer=_transformer(graph, graph.norms(), products, config.global_layers),
    )
    _check_tables(graph, weights.text_embedding, weights.audio_embeddings, config)
    _check_shapes(graph, weights.transformer, config.hidden_size)
    return weights


def read_local(bundle: Bundle) -> LocalWeights:
    """Read the local transformer from the graph that samples a whole frame.

    Raises:
        CannotCompileError: the graph is not built as the publisher's exporter builds it.
    """
    graph = PublishedGraph(bundle.tts_graphs.paths["local_fixed_sampled_frame"])
    config = bundle.config
    tables = list(dict.fromkeys(lookup.table for lookup in graph.lookups()))
    _check_count(graph, "embeddings", tables, config.n_vq)
    # one step for the hidden state, then one per codebook; each ends in a head
    per_step = _PRODUCTS_PER_LAYER * config.local_layers + 1
    products = graph.products()
    _check_count(graph, "products with weights", products, config.row_width * per_step)
    steps = [products[i : i + per_step] for i in range(0, len(products), per_step)]
    if any(step[:-1] != steps[0][:-1] for step in steps):
        raise graph.refuse("its steps have different weights")
    norms = graph.norms()
    _check_count(
        graph,
        "norms",
        norms,
        config.row_width * (_NORMS_PER_LAYER * config.local_layers + 1),
    )
    heads = [graph.values(step[-1].weight) for step in steps]
    weights = LocalWeights(
        text_embedding=graph.values(tables[0]),
        audio_embeddings=tuple(graph.values(table) for table in tables[1:]),
        transformer=_transformer(graph, norms, steps[0][:-1], config.local_layers),
        text_head=heads[0],
        audio_heads=tuple(heads[1:]),
    )
    _check_tables(graph, weights.text_embedding, weights.audio_embeddings, config)
    _check_shapes(graph, weights.transformer, config.hidden_size)
    sizes = [head.shape[1] for head in heads]
    if sizes != [config.vocab_size, *config.codebook_sizes]:
        raise graph.refuse(f"its heads have {sizes} outputs")
    return weights


def _transformer(
    graph: PublishedGraph, norms: list[Norm], products: list[Product], layers: int
) -> Transformer:
    if len(norms) < _NORMS_PER_LAYER * layers + 1:
        raise graph.refuse(f"it has {len(norms)} norms for {layers} layers")
    blocks = []
    for layer in range(layers):
        norm = norms[_NORMS_PER_LAYER * layer :]
        first = _PRODUCTS_PER_LAYER * layer
        attention_in, attention_out, mlp_in, mlp_out = (
            graph.linear(product) for product in products[first : first + _PRODUCTS_PER_LAYER]
        )
        blocks.append(Block(norm[0], attention_in, attention_out, norm[1], mlp_in, mlp_out))
    return Transformer(tuple(blocks), norms[_NORMS_PER_LAYER * layers])


def _check_count(graph: PublishedGraph, what: str, found: Sequence[object], wanted: int) -> None:
    if len(found) != wanted:
        raise graph.refuse(f"it has {len(found)} {what}, not {wanted}")


def _check_tables(
    graph: PublishedGraph, text: Values, audio: tuple[Values, ...], config: ModelConfig
) -> None:
    shapes = [text.shape, *(table.shape for table in audio)]
    sizes = (config.vocab_size, *config.codebook_sizes)
    wanted = [(size, config.hidden_size) for size in sizes[: len(shapes)]]
    if shapes != wanted:
        raise graph.refuse(f"its embeddings have the shapes {shapes}, not {wanted}")


def _check_shapes(graph: PublishedGraph, transformer: Transformer, hidden: int) -> None:
    norms = [transformer.final_norm]
    for block in transformer.blocks:
        norms += [block.attention_norm, block.mlp_norm]
        inner = block.mlp_in.weight.shape[1]
        for linear, wanted in (
            (block.attention_in, (hidden, 3 * hidden)),
            (block.attention_out, (hidden, hidden)),
            (block.mlp_in, (hidden, inner)),
            (block.mlp_out, (inner, hidden)),
        ):
            if linear.weight.shape != wanted or linear.bias.shape != wanted[1:]:
                raise graph.refuse(f"a linear layer is {linear.weight.shape}, not {wanted}")
    if any(part.shape != (hidden,) for norm in norms for part in (norm.scale, norm.bias)):
        raise graph.refuse(f"a norm is not {hidden} wide")
