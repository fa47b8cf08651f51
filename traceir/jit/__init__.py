"""Trace once, call often: `jit`, its cache and its stages. Serves: cache.*"""

from traceir.jit.api import jit
from traceir.jit.cache.trace_cache import clear_caches
from traceir.jit.composite import composite
from traceir.jit.function import CacheInfo, JitFunction
from traceir.jit.make_jaxpr import eval_shape, make_jaxpr
from traceir.jit.stages import ShapeDtypeStruct

__all__ = [
    "CacheInfo",
    "JitFunction",
    "ShapeDtypeStruct",
    "clear_caches",
    "composite",
    "eval_shape",
    "jit",
    "make_jaxpr",
]
