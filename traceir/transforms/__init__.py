"""Function transforms: derivatives and batches of whatever can be traced.

Takes a function, gives a function. A transform is a trace of its own: its tracers carry
tangents or batch axes, and each operation is bound again under the outer trace. Start
reading at `autodiff.gradients.grad`.

- `autodiff`: automatic differentiation: forward, linearized, transposed
- `batching`: batching: `vmap`, `pmap`, `shard_map`, and rules of classes of primitives
- `control`: derivatives and batches of control flow, and `checkpoint`
- `custom`: functions with derivative rules of their own
- `rules`: registries of rules, templates from the rows, rewrites of programs
- `spanning`: arrays over several processes: each process computes its part
- `jacobians`: Jacobians and Hessians
"""

from traceir.base import lazy_exports as _lazy

_places = _lazy.places(__file__)
__all__ = sorted(_places)


def __getattr__(name: str) -> object:
    if name in _places:
        return _lazy.load(globals(), _places[name], name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
