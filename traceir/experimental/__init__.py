"""The names that JAX has in its module `experimental`. Serves: callback.ordered

Takes functions and gives functions. Start reading at `checkify.checkify`.

- `checkify`: checks in traced functions, whose outcome is a value
- `automatic_checks`: failures of operations: NaNs, zeros and indices out of bounds
- `compilation_cache`: the directory of compiled functions, as JAX's module has it
- `hijax`: primitives of a library's own as classes, whose methods are their rules
- `jet`: derivatives of higher order along a curve: of a function of a power series
- `layout`: the order of an array's elements in memory, with where it lies
- `mesh_utils`: devices in the order of a mesh
- `multihost_utils`: agreement of processes that work together
- `ode`: ordinary differential equations, by steps whose length follows from their error
- `pallas`: the place of JAX's language for kernels: its names raise
- `pjit`: `jit` by its former name, which takes shardings by position
- `shard_map`: functions of one part of each array, by its former place
- `sparse`: sparse arrays: values, and the indices that they stand at
"""

from traceir.base import lazy_exports
from traceir.base.config import enable_x64
from traceir.base.tracebacks import publish as _publish
from traceir.tracing.callbacks import io_callback

__all__ = ["enable_x64", "io_callback"]

# Modules that are imported when they are first asked for.
_LATER = (
    "checkify",
    "compilation_cache",
    "hijax",
    "jet",
    "layout",
    "mesh_utils",
    "multihost_utils",
    "ode",
    "pallas",
    "pjit",
    "shard_map",
    "sparse",
)


def __getattr__(name: str) -> object:
    if name == "MutableArray":
        return lazy_exports.load(globals(), f"{__name__}.hijax", name)
    if name in _LATER:
        return lazy_exports.load(globals(), __name__, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


_publish(globals())
