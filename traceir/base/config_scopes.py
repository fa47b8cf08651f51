"""Flags as context managers, named as in `jax`. Serves: cache.flag.*, debug.*, leak.*

Each sets its flag in this thread for as long as the ``with`` lasts; `config` says what
the flags are.

>>> import traceir
>>> with disable_jit():
...     traceir.base.config.current().disable_jit
True
"""

from __future__ import annotations

from traceir.base.config import ConfigScope, scope

__all__ = [
    "boundscheck",
    "check_tracer_leaks",
    "debug_infs",
    "debug_key_reuse",
    "debug_nans",
    "default_matmul_precision",
    "default_prng_impl",
    "disable_jit",
    "explain_cache_misses",
    "log_compiles",
    "no_tracing",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "sanitize",
    "threefry_partitionable",
    "unrolled_loops",
]


def numpy_dtype_promotion(value: str) -> ConfigScope:
    """Within ``with``: operands of two dtypes meet ("standard") or not ("strict").

    >>> import traceir, traceir.numpy as jnp
    >>> with traceir.numpy_dtype_promotion("strict"):
    ...     try:
    ...         jnp.arange(2) + jnp.ones(2)
    ...     except ValueError as error:
    ...         print(error.rule)
    promote.strict
    """
    return scope("numpy_dtype_promotion", value)


def numpy_rank_promotion(value: str) -> ConfigScope:
    """Within ``with``: operands of two ranks are let be, or "warn", or "raise".

    >>> import traceir, traceir.numpy as jnp
    >>> with traceir.numpy_rank_promotion("raise"):
    ...     try:
    ...         jnp.ones((2, 2)) + jnp.ones(2)
    ...     except ValueError as error:
    ...         print(error.rule)
    face.rank
    """
    return scope("numpy_rank_promotion", value)


def default_matmul_precision(value: str | None) -> ConfigScope:
    """Within ``with``: the precision that matrix products ask of their backend.

    >>> import traceir, traceir.numpy as jnp
    >>> with traceir.default_matmul_precision("highest"):
    ...     program = traceir.make_jaxpr(jnp.dot)(jnp.ones(2), jnp.ones(2))
    >>> dict(program.eqns[0].params)["precision"]
    ('Precision.HIGHEST', 'Precision.HIGHEST')
    """
    return scope("default_matmul_precision", value)


def disable_jit(value: bool = True) -> ConfigScope:
    """Within ``with``: jitted functions run their Python body at each call.

    >>> import traceir
    >>> f = traceir.jit(lambda x: x * 2 if x > 0 else x)
    >>> with traceir.disable_jit():
    ...     f(3)
    6
    """
    return scope("disable_jit", value)


def no_tracing(value: bool = True) -> ConfigScope:
    """Within ``with``: a call that would trace is an error (cache.no_tracing).

    >>> import traceir
    >>> f = traceir.jit(lambda x: x * 2)
    >>> with traceir.no_tracing():
    ...     try:
    ...         f(1.0)
    ...     except RuntimeError as error:
    ...         print(error.rule)
    cache.no_tracing
    """
    return scope("no_tracing", value)


def unrolled_loops(value: str) -> ConfigScope:
    """Within ``with``: a line that records very often is told: "warn", or "raise".

    >>> import traceir
    >>> def count(x):
    ...     for _ in range(1000):
    ...         x = x + 1
    ...     return x
    >>> with traceir.unrolled_loops("allow"):
    ...     len(traceir.make_jaxpr(count)(0).eqns)
    1000
    """
    return scope("unrolled_loops", value)


def debug_nans(value: bool = True) -> ConfigScope:
    """Within ``with``: a result that is not a number is an error (debug.nan).

    >>> import traceir, traceir.numpy as jnp
    >>> with traceir.debug_nans():
    ...     try:
    ...         traceir.jit(jnp.log)(-1.0)
    ...     except FloatingPointError as error:
    ...         print(error.got)
    nan in the result of `log`, of operands without nan
    """
    return scope("debug_nans", value)


def debug_infs(value: bool = True) -> ConfigScope:
    """Within ``with``: a result that is infinite is an error (debug.inf).

    >>> import traceir, traceir.numpy as jnp
    >>> with traceir.debug_infs():
    ...     try:
    ...         1.0 / jnp.zeros(2)
    ...     except FloatingPointError as error:
    ...         print(error.rule)
    debug.inf
    """
    return scope("debug_infs", value)


def debug_key_reuse(value: bool = True) -> ConfigScope:
    """Within ``with``: a key that is used twice is an error (random.reuse).

    >>> import traceir
    >>> key = traceir.random.key(0)
    >>> with traceir.debug_key_reuse():
    ...     x = traceir.random.normal(key)
    ...     try:
    ...         traceir.random.uniform(key)
    ...     except traceir.errors.KeyReuseError as error:
    ...         print(error.rule)
    random.reuse
    """
    return scope("debug_key_reuse", value)


def sanitize(value: bool = True) -> ConfigScope:
    """Within ``with``: indices out of bounds, overflow and NaN are errors (sanitize.*).

    >>> import traceir, traceir.numpy as jnp
    >>> with traceir.sanitize():
    ...     try:
    ...         traceir.jit(lambda x, k: x[k])(jnp.arange(3), 5)
    ...     except IndexError as error:
    ...         print(error.got)
    `dynamic_slice` at place 5 in dimension 0 of extent 3
    """
    return scope("sanitize", value)


def boundscheck(value: bool = True) -> ConfigScope:
    """Within ``with``: whether plain functions look at the places that they index by
    (index.bounds); see `traceir_numba.jit`.

    >>> import traceir
    >>> with traceir.boundscheck(False):
    ...     traceir.base.config.boundscheck
    False
    """
    return scope("boundscheck", value)


def check_tracer_leaks(value: bool = True) -> ConfigScope:
    """Within ``with``: a traced value that outlives its trace is an error (leak.held),
    as soon as the trace of a program ends; see `traceir.checking_leaks`.

    >>> import traceir
    >>> kept = []
    >>> with traceir.check_tracer_leaks():
    ...     try:
    ...         traceir.jit(kept.append)(1.0)
    ...     except traceir.errors.UnexpectedTracerError as error:
    ...         print(error.rule)
    leak.held
    """
    return scope("check_tracer_leaks", value)


def log_compiles(value: bool = True) -> ConfigScope:
    """Within ``with``: log each trace and each compilation at level WARNING.

    >>> import logging, sys, traceir
    >>> log, shown = logging.getLogger("traceir"), logging.StreamHandler(sys.stdout)
    >>> log.addHandler(shown)
    >>> with traceir.log_compiles():
    ...     traced = traceir.jit(lambda x: x * 2).trace(1.0)
    Tracing <lambda> for jit: no trace of this function yet
    >>> log.removeHandler(shown)
    """
    return scope("log_compiles", value)


def explain_cache_misses(value: bool = True) -> ConfigScope:
    """Within ``with``: log at level WARNING why each call that traces does so.

    >>> import logging, sys, traceir
    >>> log, shown = logging.getLogger("traceir"), logging.StreamHandler(sys.stdout)
    >>> f = traceir.jit(lambda x: x * 2)
    >>> log.addHandler(shown)
    >>> with traceir.explain_cache_misses():
    ...     y = f(1.0), f(2.0), f(3)
    Cache miss of <lambda>: no trace of this function yet
    Cache miss of <lambda>: cache.key.dtype: argument x was f32, now i32
    >>> log.removeHandler(shown)
    """
    return scope("explain_cache_misses", value)


def threefry_partitionable(value: bool = True) -> ConfigScope:
    """Within ``with``: random bits are those of the newer layout, or of the older one.

    >>> import traceir
    >>> with traceir.threefry_partitionable(False):
    ...     print(traceir.random.bits(traceir.random.key(123), (2,)))
    [2095235069 2959038751]
    """
    return scope("threefry_partitionable", value)


def default_prng_impl(value: str) -> ConfigScope:
    """Within ``with``: the generator of keys that name none; there is one.

    >>> import traceir
    >>> with traceir.default_prng_impl("threefry2x32"):
    ...     traceir.random.key_impl(traceir.random.key(0))
    'threefry2x32'
    """
    return scope("default_prng_impl", value)
