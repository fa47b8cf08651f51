"""Primitives of a library's own as classes, whose methods are their rules.

`HiPrimitive` is a primitive of arrays, `VJPHiPrimitive` one of trees of arrays that has
a derivative of its own. The classes of types are what libraries derive theirs from: a
value of such a type is an operand of no program, and is refused as one.

Serves: custom_primitive.*
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from traceir import rules
from traceir.base.tracebacks import entry_points
from traceir.ir.avals import ShapedArray
from traceir.pytrees.flatten import flatten
from traceir.tracing.trace import typeof
from traceir.transforms.batching.vmap import vmap
from traceir.transforms.custom.custom_jvp import custom_jvp
from traceir.transforms.custom.custom_primitive import (
    AXIS_BATCHERS,
    JVPS,
    TRANSPOSES,
    Primitive,
    instantiate_zeros,
)
from traceir.transforms.custom.custom_vjp import custom_vjp
from traceir.transforms.rules.registry import LinearOperand, Zero

__all__ = [
    "AbstractValue",
    "AvalMutableQDD",
    "AvalQDD",
    "HiPrimitive",
    "HiType",
    "MutableArray",
    "MutableHiType",
    "ShapedArray",
    "VJPHiPrimitive",
    "Zero",
    "aval_method",
    "aval_property",
    "control_flow_allowed_effects",
    "instantiate_zeros",
    "is_undefined_primal",
    "register_hitype",
]


METHOD = "define it as a method of the class"


class HiPrimitive(Primitive):
    """A primitive whose rules are methods that a class defines.

    `abstract_eval` gives the types of results and their effects, `to_lojax` computes
    them by operations, `jvp` and `transpose` are its derivative and its transpose; a
    rule that the class lacks is an error where it is asked for.

    >>> import traceir
    >>> class Cube(HiPrimitive):
    ...     def abstract_eval(self, x):
    ...         return x, set()
    ...
    ...     def to_lojax(self, x):
    ...         return x**3
    ...
    ...     def jvp(self, primals, tangents):
    ...         return self.bind(*primals), 3 * primals[0] ** 2 * tangents[0]
    >>> cube_p = Cube("cube")
    >>> cube_p.bind(2.0), traceir.jit(traceir.grad(cube_p.bind))(2.0)
    (8.0, Array(12., dtype=float32, weak_type=True))
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.impl = self.lowering = self.to_lojax
        own = type(self)
        if own.jvp is not HiPrimitive.jvp:
            JVPS[self] = self.jvp
        if own.transpose is not HiPrimitive.transpose:
            TRANSPOSES[self] = self.transpose

    def lacks(self, rule: str) -> Exception:
        """The error of a rule that it does not have (custom_primitive.rule)."""
        got = f"no {rule} of {self.name}"
        return rules.error("custom_primitive.rule", got=got, hint=METHOD)

    def abstract_eval(self, *avals: Any, **params: Any) -> Any:
        """The types of the results, and the set of their effects."""
        raise self.lacks("abstract_eval")

    def to_lojax(self, *args: Any, **params: Any) -> Any:
        """The results, by operations."""
        raise self.lacks("to_lojax")

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        """The results and their tangents; tangents that are zero are `Zero`."""
        raise self.lacks("jvp")

    def transpose(self, cotangents: Any, *args: Any, **params: Any) -> Any:
        """A cotangent for each operand for which `is_undefined_primal` holds."""
        raise self.lacks("transpose")


class AxisData(NamedTuple):
    """The axis that a batching rule is asked about: its extent, and its name."""

    size: int
    name: Any


class GradAccum:
    """The cotangent of an operand, to which a rule adds by `accum`."""

    def __init__(self, aval: ShapedArray) -> None:
        self.total: Any = Zero(aval)

    def accum(self, cotangent: Any) -> None:
        """Add a cotangent."""
        if not isinstance(cotangent, Zero | None):
            held = isinstance(self.total, Zero)
            self.total = cotangent if held else self.total + cotangent


@entry_points("__call__", "__init__")
class VJPHiPrimitive:
    """An operation on trees of arrays that a class defines, called as a function.

    Its `__init__` sets `in_avals`, a tuple of trees of types, `out_aval`, and `params`,
    which become attributes. `expand` computes it; `vjp_fwd` gives the result and what
    is kept for `vjp_bwd_retval`, which gives cotangents, or for `vjp_bwd`, which adds
    them where it is told. A class without these may have `jvp`, its derivative
    forwards; `batch` or `batch_dim_rule` is its batching.

    Raises NotImplementedError (custom_primitive.rule) for a rule that it lacks.

    >>> import traceir
    >>> class Cube(VJPHiPrimitive):
    ...     def __init__(self, aval):
    ...         self.in_avals, self.out_aval, self.params = (aval,), aval, {}
    ...         super().__init__()
    ...
    ...     def expand(self, x):
    ...         return x**3
    ...
    ...     def vjp_fwd(self, nonzero, x):
    ...         return self(x), x
    ...
    ...     def vjp_bwd_retval(self, x, ct):
    ...         return (3 * x**2 * ct,)
    >>> cube = lambda x: Cube(traceir.typeof(x))(x)
    >>> bool(cube(2.0) == 8), traceir.jit(traceir.grad(cube))(2.0)
    (True, Array(12., dtype=float32, weak_type=True))
    """

    in_avals: tuple[Any, ...]
    out_aval: Any
    params: dict[str, Hashable]
    effects: frozenset[Any] = frozenset()

    def __init__(self) -> None:
        for name in ("in_avals", "out_aval", "params"):
            if not hasattr(self, name):
                raise self.lacks(name)
        self.in_avals_flat, self.in_tree = flatten(self.in_avals)
        self.out_avals_flat, self.out_tree = flatten(self.out_aval)
        for aval in (*self.in_avals_flat, *self.out_avals_flat):
            if not isinstance(aval, ShapedArray):
                raise self.lacks(f"array of type {aval!r}")
        if self.effects:
            raise self.lacks("order among effects")
        self.__dict__.update(self.params)
        self.check(*self.in_avals)

    def __call__(self, *args: Any) -> Any:
        """The result; TypeError (custom_primitive.types) for other operands."""
        leaves, tree = flatten(args)
        avals = [typeof(leaf) for leaf in leaves]
        fits = tree == self.in_tree and all(
            (a.shape, a.dtype) == (b.shape, b.dtype)
            for a, b in zip(avals, self.in_avals_flat, strict=True)
        )
        if not fits:
            given = ", ".join(a.str_short() for a in avals)
            told = ", ".join(a.str_short() for a in self.in_avals_flat)
            got = f"operands {given} of {type(self).__name__}, whose types are {told}"
            raise rules.error("custom_primitive.types", got=got)
        return _differentiable(self)(*args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}[{self.params}]"

    def __hash__(self) -> int:
        return hash((type(self).__name__, tuple(self.params.items())))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.params == self.params

    def lacks(self, rule: str) -> Exception:
        """The error of a rule that it does not have (custom_primitive.rule)."""
        got = f"no {rule} of {type(self).__name__}"
        return rules.error("custom_primitive.rule", got=got, hint=METHOD)

    def has(self, rule: str) -> bool:
        """True if a class defines a rule."""
        return getattr(type(self), rule) is not getattr(VJPHiPrimitive, rule)

    def check(self, *in_avals: Any) -> None:
        """Raise an error for types that it does not take; by itself it takes all."""

    def expand(self, *args: Any) -> Any:
        """The result, by operations."""
        raise self.lacks("expand")

    def vjp_fwd(self, nonzero: Any, /, *args: Any) -> Any:
        """The result, and what the rule of its cotangents needs."""
        raise self.lacks("vjp_fwd")

    def vjp_bwd(self, kept: Any, cotangent: Any, /, *accums: Any) -> None:
        """Add the cotangents of operands, each where it is told."""
        found = self.vjp_bwd_retval(kept, cotangent)
        parts = self.in_tree.flatten_up_to(tuple(found))
        for accum, part in zip(flatten(accums)[0], parts, strict=True):
            accum.accum(part)

    def vjp_bwd_retval(self, kept: Any, cotangent: Any, /) -> Any:
        """The cotangents of the operands."""
        raise self.lacks("vjp_bwd or vjp_bwd_retval")

    def jvp(self, primals: Any, tangents: Any) -> Any:
        """The result and its tangent."""
        raise self.lacks("jvp")

    def batch(self, axis_data: AxisData, args: Any, dims: Any) -> Any:
        """The result for all examples, and its batched dimension."""
        out_dim, (size, name) = self.batch_dim_rule(axis_data, dims), axis_data
        mapped = vmap(self.expand, tuple(dims), out_dim, axis_size=size, axis_name=name)
        return mapped(*args), out_dim

    def batch_dim_rule(self, axis_data: AxisData, dims: Any, /) -> Any:
        """The batched dimension of the result, by those of the operands."""
        raise self.lacks("batch or batch_dim_rule")


def _differentiable(prim: VJPHiPrimitive) -> Callable[..., Any]:
    """The operation as a function, with the derivative that its class defines."""

    def run(*args: Any) -> Any:
        leaves = prim.in_tree.flatten_up_to(args)
        return prim.out_tree.unflatten(call_hi_primitive_p.bind(*leaves, _prim=prim))

    if prim.has("vjp_fwd"):
        return _with_vjp(prim, run)
    if not prim.has("jvp"):
        return run
    forwards = custom_jvp(run)
    forwards.defjvp(prim.jvp)
    return forwards


def _with_vjp(prim: VJPHiPrimitive, run: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the derivative in reverse that a class defines."""

    def forward(*args: Any) -> Any:
        nonzero = prim.in_tree.unflatten([True] * len(prim.in_avals_flat))
        out, kept, *_ = prim.vjp_fwd(nonzero, *args)
        return out, kept

    def backward(kept: Any, cotangent: Any) -> Any:
        accums = [GradAccum(aval) for aval in prim.in_avals_flat]
        prim.vjp_bwd(kept, cotangent, *prim.in_tree.unflatten(accums))
        return prim.in_tree.unflatten([instantiate_zeros(a.total) for a in accums])

    found = custom_vjp(run)
    found.defvjp(forward, backward)
    return found


def _computed(*leaves: Any, _prim: VJPHiPrimitive) -> list[Any]:
    """The leaves of the result, by operations."""
    found = _prim.expand(*_prim.in_tree.unflatten(leaves))
    return list(_prim.out_tree.flatten_up_to(found))


def _batched(
    size: int, name: Any, _: Any, values: Any, dims: Any, *, _prim: VJPHiPrimitive
) -> Any:
    """Results for all examples, and their batched dimensions."""
    args, places = map(_prim.in_tree.unflatten, (values, dims))
    out, out_dims = _prim.batch(AxisData(size, name), args, places)
    leaves = _prim.out_tree.flatten_up_to(out)
    if isinstance(out_dims, int | None):
        return leaves, [out_dims] * len(leaves)
    return leaves, _prim.out_tree.flatten_up_to(out_dims)


call_hi_primitive_p = Primitive("call_hi_primitive")
call_hi_primitive_p.multiple_results = True
call_hi_primitive_p.impl = call_hi_primitive_p.lowering = _computed
call_hi_primitive_p.def_abstract_eval(lambda *_, _prim: _prim.out_avals_flat)
AXIS_BATCHERS[call_hi_primitive_p] = _batched


class AbstractValue:
    """The class that types of a library's own are derived from."""


class HiType(AbstractValue):
    """A type whose values are made of several arrays."""


class MutableHiType(HiType):
    """A type whose values change."""


class MutableArray:
    """The class of arrays that programs write to, of which there are none here."""


class AvalQDD:
    """A type of a value that changes, with what is known of it at a place."""

    def __init__(self, aval: Any, qdd: Any) -> None:
        self.aval, self.qdd = aval, qdd


class AvalMutableQDD:
    """As `AvalQDD`, where that is written to."""

    def __init__(self, aval: Any, mutable_qdd: Any) -> None:
        self.aval, self.mutable_qdd = aval, mutable_qdd


class aval_property:
    """A property of values that their type defines."""

    def __init__(self, fget: Callable[..., Any]) -> None:
        self.fget = fget


class aval_method:
    """A method of values that their type defines."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun


class EffectTypes:
    """The classes of effects that a library lets stand within control flow."""

    def __init__(self) -> None:
        self.types: list[type] = []

    def add_type(self, effect: type) -> None:
        """Add a class."""
        self.types.append(effect)


control_flow_allowed_effects = EffectTypes()
_registered: dict[type, Callable[[Any], Any]] = {}


def register_hitype(val_cls: type, typeof_fn: Callable[[Any], Any]) -> None:
    """Note the class of the values of such a type, and what tells their type."""
    _registered[val_cls] = typeof_fn


def is_undefined_primal(x: Any) -> bool:
    """True for an operand whose cotangent is asked for.

    >>> is_undefined_primal(1.0)
    False
    """
    return isinstance(x, LinearOperand)
