"""`jit`: trace once, call often; its cache and its stages. Serves: cache.*

Takes a function; a call gives its results, by a compiled program from the cache or by
tracing it anew. `cache.trace_cache.FunctionCache.lookup` decides what is a cache miss.
Start reading at `function.JitFunction.__call__`.

- `cache`: the trace cache: keys of calls, entries, and checks of captured state
- `hot_path`: the path of a cache hit: raw keys, guards and compiled runners
- `api`: the decorator `jit`, which chooses the kind of function by its options
- `backends`: backends by name, resolved when first used
- `composite`: composites: functions of primitives shown as one `jit` equation
- `donation`: `jit` with donated arguments, whose memory results may take
- `fallback`: plain functions that run untraced where they cannot be traced
- `function`: `JitFunction`: traced on the first call, compiled code after
- `inlining`: calls that become a part of the function that is traced
- `instrument`: executables wrapped for the debugging flags
- `make_jaxpr`: tracing without running: `make_jaxpr` and `eval_shape`
- `miss_report`: reasons for a retrace: the nearest entry and the difference
- `pickling`: jitted functions in pickles: by name, or with their function
- `runtime_checks`: programs that also tell which of their checks has failed first
- `sharded`: `jit` with shardings, checked at each call
- `stages`: ahead-of-time stages: traced, lowered and compiled functions
- `staging`: from a call to a cache entry: bind, flatten, key, trace
"""

from traceir.ir.structs import ShapeDtypeStruct
from traceir.jit.api import jit
from traceir.jit.cache.trace_cache import CacheInfo, clear_caches
from traceir.jit.composite import composite
from traceir.jit.function import JitFunction
from traceir.jit.make_jaxpr import eval_shape, make_jaxpr

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
