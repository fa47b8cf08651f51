"""Primitives as values: the names that equations have.

Serves: level.bind
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from traceir import rules
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Eqn, Jaxpr, UntypedVar
from traceir.ir.params import Applied, EqnParams, NamedPrimitive, stored
from traceir.tracing.trace import Trace, Value, bind, call_form, in_force

# Params that JAX's primitives have and these have not.
HIDDEN = {"jit": ("inline",)}
# Params that these have and JAX's have not: it knows the size of an axis by its name,
# and nothing of turns in any order or of what leaves a loop.
LACKED = {
    "all_to_all": ("axis_size",),
    "scan": ("independent", "status"),
    "while": ("independent", "status"),
}
# What applies a call of functions that are no programs yet, by its primitive.
WITH_FUNCTIONS: dict[str, Callable[..., Any]] = {}


class BuiltInPrimitive(NamedPrimitive):
    """A primitive of the tables: the name that equations have for it.

    >>> import traceir
    >>> neg_p = traceir.lax.neg_p
    >>> traceir.make_jaxpr(lambda x: -x)(1.0).eqns[0].primitive == neg_p
    True
    >>> neg_p.bind(2.0), neg_p.multiple_results
    (Array(-2., dtype=float32, weak_type=True), False)
    """

    __slots__ = ()

    @property
    def multiple_results(self) -> bool:
        """True if it gives a list of results."""
        several = WITHOUT_EQUATIONS.get(self)
        return not call_form(self)[1] if several is None else several

    def bind(self, *values: Value, **params: Any) -> Any:
        """Apply it: recorded inside a trace, evaluated outside (level.bind)."""
        if "subfuns" in params:
            return WITH_FUNCTIONS[self](values, **params)
        for name in HIDDEN.get(self, ()):
            params.pop(name, None)
        own = {name: stored(value) for name, value in params.items()}
        found = bind(str(self), *values, **own)
        return list(found) if self.multiple_results else found

    @property
    def params_type(self) -> type[EqnParams]:
        """The class of its params."""
        return params_type(self)

    def eqn_params(
        self, avals: Sequence[ShapedArray], params: Mapping[str, Any]
    ) -> EqnParams:
        """The params that an equation stores; those left out are as the row says."""
        given = {name: stored(value) for name, value in params.items()}
        made = super().eqn_params(avals, {**call_form(self)[0], **given})
        return self.params_type(made)

    def bind_with_trace(
        self,
        trace: Trace | None,
        values: Sequence[Value],
        avals: Sequence[ShapedArray],
        params: dict[str, Any],
    ) -> Any:
        """Apply it while a trace is in force."""
        with in_force(trace):
            return self.bind(*values, **params)

    def __repr__(self) -> str:
        return str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return builtin, (str(self),)


def primitive_of(name: str) -> NamedPrimitive:
    """The primitive that equations hold: a user's own, or that of a name."""
    return name if isinstance(name, NamedPrimitive) else builtin(name)


class AppliedJaxpr(Jaxpr, Applied):
    """A program that applies a primitive to two numbers of any type."""


class AppliedParams(EqnParams):
    """Params of which one is read as a program that applies a primitive."""

    __slots__ = ()
    programs: ClassVar[dict[str, AppliedJaxpr]]

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return self.programs.get(key) if found is None else found

    def __reduce__(self) -> tuple[Any, ...]:
        return EqnParams, (tuple(self),)


@functools.cache
def params_type(primitive: str) -> type[EqnParams]:
    """The class of the params of a primitive of the tables."""
    row = rules.default().prims.get(primitive)
    named = {p.name: p.applies for p in row.params if p.applies} if row else {}
    if not named:
        return EqnParams
    x, y, z = (UntypedVar() for _ in range(3))
    programs = {
        name: AppliedJaxpr((), (x, y), (Eqn(builtin(applied), (x, y), (z,)),), (z,))
        for name, applied in named.items()
    }
    return type("AppliedParams", (AppliedParams,), {"programs": programs})


@functools.cache
def builtin(name: str) -> BuiltInPrimitive:
    """The primitive of a name: one object, whoever asks.

    >>> builtin("neg") is builtin("neg")
    True
    """
    return BuiltInPrimitive(name)


# Primitives of JAX whose functions are made of others here, and whether they have
# several results. No program has an equation of these, and `bind` refuses them:
# interpreters of programs have rules for all of JAX's primitives, and name them.
WITHOUT_EQUATIONS = {
    **dict.fromkeys(
        (
            *("after_all", "cholesky_update", "create_token", "eq_to", "le_to"),
            *("householder_product", "lt_to", "mulhi", "ormqr", "ragged_all_to_all"),
            *("rng_uniform", "select_and_scatter", "sharding_constraint", "stage"),
            *("symmetric_product", "tile", "tridiagonal_solve"),
        ),
        False,
    ),
    **dict.fromkeys(
        (
            *("approx_top_k", "dce_sink", "device_put", "linear_solve"),
            *("optimization_barrier", "reduce", "reduce_window", "rng_bit_generator"),
            "tridiagonal",
        ),
        True,
    ),
}


@functools.cache
def named(attribute: str) -> BuiltInPrimitive | None:
    """The primitive of a name such as `add_p`; None for any other.

    >>> named("add_p"), named("scatter_add_p"), named("add"), named("no_such_p")
    (add, scatter-add, None, None)
    """
    name, prims = attribute.removesuffix("_p"), rules.default().prims
    spelled = name.replace("_", "-")  # as scatter-add is
    known = name in prims or name in WITHOUT_EQUATIONS
    found = name if known else spelled if spelled in prims else None
    return None if name == attribute or found is None else builtin(found)
