"""Processors that add 8-bit products in 16 bits are found out before they spoil the sound."""

import numpy as np

from wyoming_moss_nano.model.compiler.processor import activation_levels


def exactly(values, weight):
    return (values.astype(int) - 128) @ weight.astype(int)


def in_pairs_of_16_bits(values, weight):
    """As x86 without VNNI does: neighbours are added in 16 bits, which saturate."""
    products = values.astype(int)[:, :, np.newaxis] * weight.astype(int)
    pairs = products[:, 0::2] + products[:, 1::2]
    return np.clip(pairs, -(2**15), 2**15 - 1).sum(axis=1) - 128 * weight.astype(int).sum(axis=0)


def test_exact_products_take_all_of_8_bits():
    assert activation_levels(exactly) == 127


def test_products_that_overflow_16_bits_take_one_bit_less():
    assert activation_levels(in_pairs_of_16_bits) == 63


def test_with_one_bit_less_16_bits_are_enough():
    generator = np.random.default_rng(0)
    levels = activation_levels(in_pairs_of_16_bits)
    loudest = generator.choice([1, 2 * levels + 1], (4, 256)).astype(np.uint8)
    weight = generator.choice([-127, 127], (256, 64)).astype(np.int8)

    assert (in_pairs_of_16_bits(loudest, weight) == exactly(loudest, weight)).all()


def test_this_processor_is_asked_the_way_compiled_graphs_use_it():
    assert activation_levels() in (63, 127)
