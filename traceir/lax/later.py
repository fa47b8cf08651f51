"""Names of `lax` that few programs ask for, imported when they do."""

from __future__ import annotations

from importlib import import_module

PLACES = {
    "copy_p": "traceir.transforms.custom.copies",
    "custom_linear_solve": "traceir.transforms.custom.linear_solve",
    "custom_root": "traceir.transforms.custom.roots",
    "AccuracyMode": "traceir.lax.checks.accuracy",
    "Tolerance": "traceir.lax.checks.accuracy",
    **dict.fromkeys(
        ("RandomAlgorithm", "rng_bit_generator"), "traceir.lax.bit_generators"
    ),
    **dict.fromkeys(
        (
            "conv_general_permutations",
            "conv_general_shape_tuple",
            "conv_shape_tuple",
            "conv_transpose_shape_tuple",
            "reduce_window_shape_tuple",
            "shape_as_value",
        ),
        "traceir.lax.reductions.extents",
    ),
    **dict.fromkeys(("pcast", "pswapaxes"), "traceir.lax.reductions.collectives"),
    **dict.fromkeys(
        (
            "RaggedDotDimensionNumbers",
            "broadcast_like",
            "composite",
            "conv_general_dilated_local",
            "dtype",
            "empty",
            "pbroadcast",
            "platform_dependent",
            "pshuffle",
            "ragged_dot_general",
            "stage",
        ),
        "traceir.lax.seldom",
    ),
}


def later(name: str) -> object:
    """The thing of a name that few programs ask for; AttributeError if none is."""
    if not name.startswith("__"):
        if name.endswith("_p") and name not in PLACES:
            from traceir.tracing.named_primitives import named

            if (found := named(name)) is not None:
                return found
        if name in PLACES:
            return getattr(import_module(PLACES[name]), name)
    raise AttributeError(f"module 'traceir.lax' has no attribute {name!r}")
