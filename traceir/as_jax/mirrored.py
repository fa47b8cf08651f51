"""Private modules of JAX's by the public ones that have their names.

Editors that import a name on their own, and many programs, take `vmap` from
`jax._src.api`, or `orthogonal` from `jax._src.nn.initializers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_NUMPY = """
    array_constructors array_creation array_methods einsum error index_tricks indexing
    lax_numpy polynomial reductions scalar_types setops sorting tensor_contractions
    ufunc_api ufuncs util vectorize window_functions
"""
_LAX = """
    ann control_flow control_flow.common control_flow.conditionals control_flow.loops
    control_flow.solves convolution fft lax other parallel slicing special utils
    windowed_reductions
"""
_STATS = """
    bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom
    gumbel_l gumbel_r laplace logistic multinomial multivariate_normal nbinom norm
    pareto poisson t truncnorm uniform vonmises wrapcauchy
"""
_SCIPY = """
    cluster.vq fft integrate linalg ndimage optimize signal sparse.linalg
    spatial.transform special stats
"""
# Private modules whose names a public one has, without `jax._src.` and `jax.`: the
# first of several that has a name. "" is `jax` itself.
PUBLIC: Mapping[str, tuple[str, ...]] = {
    "numpy": ("numpy",),
    **{f"numpy.{name}": ("numpy",) for name in _NUMPY.split()},
    "numpy.fft": ("numpy.fft",),
    "numpy.linalg": ("numpy.linalg",),
    "lax": ("lax",),
    **{f"lax.{name}": ("lax",) for name in _LAX.split()},
    "lax.linalg": ("lax.linalg",),
    **{f"scipy.{name}": (f"scipy.{name}",) for name in _SCIPY.split()},
    **{f"scipy.stats.{name}": (f"scipy.stats.{name}",) for name in _STATS.split()},
    "scipy.stats._core": ("scipy.stats",),
    "scipy.stats.kde": ("scipy.stats",),
    "scipy.optimize.minimize": ("scipy.optimize",),
    "third_party.scipy.interpolate": ("scipy.interpolate",),
    "nn.functions": ("nn",),
    "nn.initializers": ("nn.initializers",),
    "random": ("random",),
    "random.core": ("random",),
    "image.scale": ("image",),
    "ops.scatter": ("ops",),
    "ops.special": ("nn",),
    "tree": ("tree",),
    "tree_util": ("tree_util",),
    "flatten_util": ("flatten_util",),
    "api": ("", "tree_util"),
    "pjit": ("",),
    "pmap": ("",),
    "shard_map": ("",),
    "config": ("",),
    "xla_bridge": ("",),
    "environment_info": ("",),
    "custom_derivatives": ("", "custom_derivatives"),
    "custom_batching": ("custom_batching",),
    "ad_checkpoint": ("", "ad_checkpoint"),
    "callback": ("", "experimental"),
    "checkify": ("experimental.checkify",),
    "debugging": ("debug",),
    "debugger": ("debug",),
    "core": ("core", "extend.core", "errors"),
    "linear_util": ("extend.linear_util",),
    "array": ("", "sharding"),
    "basearray": ("",),
    "typing": ("typing", ""),
    "dtypes": ("dtypes",),
    "errors": ("errors",),
    "mesh": ("sharding",),
    "named_sharding": ("sharding",),
    "partition_spec": ("sharding",),
    "sharding": ("sharding",),
    "sharding_impls": ("sharding",),
    "dlpack": ("dlpack",),
    "distributed": ("distributed",),
    "monitoring": ("monitoring",),
    "profiler": ("profiler",),
    "stages": ("stages",),
    **{
        f"interpreters.{name}": (f"interpreters.{name}",)
        for name in ("ad", "batching", "mlir", "partial_eval")
    },
}


def is_mirrored(module: str) -> bool:
    """True if a module is a private one that has public names, or holds one.

    >>> is_mirrored("jax._src.nn"), is_mirrored("jax._src.nn.functions")
    (True, True)
    >>> is_mirrored("jax._src.nothing"), is_mirrored("jax.nn")
    (False, False)
    """
    return any(f"jax._src.{name}.".startswith(f"{module}.") for name in PUBLIC)


def public_modules(module: str) -> Iterator[str]:
    """The public modules that have the names of a private one.

    >>> [*public_modules("jax._src.ad_checkpoint")]
    ['jax', 'jax.ad_checkpoint']
    """
    for name in PUBLIC.get(module.removeprefix("jax._src."), ()):
        yield f"jax.{name}".rstrip(".")
