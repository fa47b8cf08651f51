"""Modules that JAX has and that few programs name.

Takes names that a program imports; gives what stands elsewhere under them, and what is
of use to libraries alone. Start reading at `core.eval_jaxpr`.

- `example_libraries`: small libraries that JAX brings along
- `extend`: the names of `jax.extend`, for libraries that extend the system
- `interpreters`: the rules of users' primitives, by the names of `jax.interpreters`
- `ad_checkpoint`: names for policies of checkpoints, and lists of what is saved
- `api_util`: functions of trees as functions of leaves
- `core`: types of programs, tracers, and the state of traces
- `custom_batching`: functions with batching rules of their own
- `custom_derivatives`: derivative rules of a user's own, and the zeros they are told
- `dlpack`: arrays of other libraries, without a copy
- `dtype_functions`: functions about dtypes that `jax.dtypes` has
- `export`: programs that leave the process, by the names of `jax.export`
- `literals`: Python numbers with a dtype, in other implementations
- `monitoring`: events, and who listens to them
- `names`: names of JAX's first level that few programs ask for
- `profiler`: named stretches of a program's time, in a file that trace viewers open
- `stages`: the stages of a compiled function: traced, lowered, compiled
- `typing`: types for annotations: what functions take as arrays, and as dtypes
- `version`: the version of JAX that this library follows
"""

from traceir.base import lazy_exports

MODULES: tuple[str, ...] = (
    "ad_checkpoint",
    "api_util",
    "core",
    "custom_batching",
    "custom_derivatives",
    "dlpack",
)
MODULES += ("example_libraries", "extend", "interpreters", "monitoring", "profiler")
MODULES += ("stages", "typing", "version")


def __getattr__(name: str) -> object:
    if name in MODULES:
        return lazy_exports.load(globals(), __name__, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *MODULES})
