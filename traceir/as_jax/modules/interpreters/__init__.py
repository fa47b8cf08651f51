"""The rules of users' primitives, by the names of `jax.interpreters`.

Takes rules under a `Primitive`; transforms find them there. Start reading at
`mlir.register_lowering`.

- `ad`: derivatives and transposes of users' primitives
- `batching`: batching of users' primitives
- `mlir`: lowering of users' primitives: to functions of operations
- `partial_eval`: programs of functions of which some arguments are known
- `xla`: primitives as they are compiled; and the name that lowerings had before `mlir`
"""

from traceir.base import lazy_exports

_LATER = ("ad", "batching", "mlir", "partial_eval", "xla")


def __getattr__(name: str) -> object:
    if name in _LATER:
        return lazy_exports.load(globals(), __name__, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
