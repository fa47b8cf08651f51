"""`jit` with shardings, checked at each call.

Serves: sharding.*
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from traceir import rules
from traceir.arrays.sharding import check_sharding, spread_shardings
from traceir.base.tracebacks import entry_points
from traceir.jit.cache.cache_key import leaf_paths
from traceir.jit.function import JitFunction, Options, P, R
from traceir.jit.pickling import Making
from traceir.jit.stages import CallForm
from traceir.jit.staging import AHEAD, Prepared
from traceir.pytrees import flatten
from traceir.tracing.trace import typeof


@entry_points("__call__")
class ShardedFunction(JitFunction[P, R]):
    """A jitted function whose arguments and results lie on devices as is said.

    The layout of an array over devices is no part of its type, so nothing is traced for
    it.
    """

    __slots__ = ("_shardings",)

    def __init__(
        self,
        fun: Callable[P, R],
        argnums: int | Sequence[int] | None,
        argnames: str | Iterable[str] | None,
        options: Options,
        shardings: tuple[Any, Any],
    ) -> None:
        super().__init__(fun, argnums, argnames, options)
        self._shardings = shardings

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call it; raises ValueError (sharding.rank, sharding.divides, …)."""
        wanted, results = self._shardings
        if wanted is not None:
            args = self._given(wanted, args, kwargs)
        outs = super().__call__(*args, **kwargs)
        return outs if results is None else _layouts().put(results, outs)

    def _making(self) -> Making:
        making = super()._making()
        return Making(making.args, (("shardings", self._shardings),))

    def _called(self, prepared: Prepared, args: Any, kwargs: Any) -> CallForm:
        form = super()._called(prepared, args, kwargs)
        wanted, results = self._shardings
        places = form.places
        if wanted is not None:
            _, _, asked = self._asked(wanted, args, kwargs)
            own = places or [None] * len(asked)
            pairs = zip(asked, own, strict=True)
            places = tuple(b if a is None else a for a, b in pairs)
        parts = form.parts
        if AHEAD and parts is None:
            parts = AHEAD[0](self, prepared, places)
        return replace(form, places=places, out_shardings=results, parts=parts)

    def _given(self, wanted: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
        """The arguments, lying as `in_shardings` asks; refuses those that cannot."""
        leaves, tree, places = self._asked(wanted, args, kwargs)
        lying, pairs = _layouts().lying, zip(leaves, places, strict=True)
        there = iter(tree.unflatten([lying(leaf, place) for leaf, place in pairs]))
        static = self._static.positions
        return tuple(a if k in static else next(there) for k, a in enumerate(args))

    def _asked(
        self, wanted: Any, args: Any, kwargs: Any
    ) -> tuple[list[Any], flatten.TreeDef, list[Any]]:
        """The leaves of the traced arguments, their tree, and what is asked of each."""
        if kwargs:
            raise rules.error("sharding.keyword", got=", ".join(kwargs))
        static = self._static.positions
        traced = tuple(a for k, a in enumerate(args) if k not in static)
        names = self._form.names or tuple(f"args[{k}]" for k in range(len(args)))
        labels = [name for k, name in enumerate(names) if k not in static]
        leaves, tree = flatten.flatten(traced)
        wanted = tuple(wanted) if type(wanted) is list else wanted
        places = spread_shardings("in_shardings", wanted, tree)
        paths = leaf_paths(labels[: len(traced)], tree)
        for leaf, place, path in zip(leaves, places, paths, strict=True):
            check_sharding(place, typeof(leaf).shape, f"the argument {path}")
        return leaves, tree, places


def _layouts() -> Any:
    from traceir.jit.hot_path import result_layouts  # which few programs need

    return result_layouts
