"""Programs of ours, translated to JAX's jaxprs. Imported only where JAX is.

Serves: every table
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
from jax._src import core
from jax._src.lax import lax, linalg, parallel, slicing
from jax._src.mesh import empty_concrete_mesh
from jax._src.random import core as draws
from jax._src.random import prng
from jax._src.sharding_impls import UNSPECIFIED
from jax.extend.core import primitives
from jax.lax import GatherDimensionNumbers, ScatterDimensionNumbers

from traceir.conform.casefiles.untyped import typed_by
from traceir.conform.jax import keys
from traceir.conform.judging.run import Unsupported
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal, Var, subjaxprs
from traceir.rules import default
from traceir.tracing.named_primitives import LACKED
from traceir.transforms.batching.batching_rules import named_axes

# What JAX calls by a function, which text cannot give.
NAMED = frozenset(
    {"custom_jvp_call", "custom_vjp_call", "custom_lin", "custom_primitive_call"}
)
# By the names that JAX prints.
PRIMITIVES: Mapping[str, Any] = {
    found.name: found
    for module in (lax, linalg, parallel, slicing, prng, draws, primitives)
    for found in vars(module).values()
    if isinstance(found, core.Primitive)
}
# What a number of Python becomes.
USUAL = frozenset({"bool", "int32", "int64", "float32", "float64"})
# What is a function for JAX, made of other primitives.
COMPOSED = frozenset({"random_gamma_grad"})
# What JAX has on a mesh alone, or within functions of parts.
OF_PARTS = frozenset({"psum_invariant", "pvary", "reshard", "shard_map"})
_WITH_ACCURACY = (
    *("exp", "exp2", "expm1", "log", "log1p", "logistic"),
    *("sqrt", "rsqrt", "cbrt", "sin", "cos", "tan", "tanh"),
)
# Params that JAX's text leaves out, by primitive.
HIDDEN: Mapping[str, Mapping[str, Any]] = {
    **{name: {"accuracy": None} for name in _WITH_ACCURACY},
    "broadcast_in_dim": {"sharding": None},
    "convert_element_type": {"sharding": None},
    "mul": {"out_dtype": None},
    "jit": {
        "ctx_mesh": empty_concrete_mesh,
        "inline": False,
        "compiler_options_kvs": (),
    },
}


def primitive(name: str) -> Any:
    """JAX's primitive of a name, or one that JAX has no rules of.

    >>> primitive("not")
    not
    """
    if name in NAMED:
        raise Unsupported(f"{name} of a rule that is a name")
    if name in COMPOSED:
        raise Unsupported(f"{name} as a primitive")
    if name in OF_PARTS:
        raise Unsupported(f"{name} outside of a function of parts")
    row = default().prims.get(name)
    if row is not None and row.host:
        raise Unsupported(f"{name} of a function that is a name")
    found = PRIMITIVES.get(name)
    return core.Primitive(name) if found is None else found


def params(name: str, given: Mapping[str, Any], operands: int) -> dict[str, Any]:
    """The params of an equation as JAX keeps them."""
    found = {**HIDDEN.get(name, {}), **keys.params(name, given)}
    for lacked in LACKED.get(name, ()):
        found.pop(lacked, None)
    if name == "round" and found.get("rounding_method") in (0, 1):
        found["rounding_method"] = jax.lax.RoundingMethod(found["rounding_method"])
    if found.get("fft_type") in range(4):
        found["fft_type"] = jax.lax.FftType(found["fft_type"])
    if found.get("precision"):
        words = (str(word).rpartition(".")[2] for word in found["precision"])
        known = jax.lax.Precision.__members__
        found["precision"] = tuple(known.get(word, word) for word in words)
    if "GatherScatterMode" in str(found.get("mode")):
        found |= _placed(name, found)
    if name == "select_and_scatter_add":  # JAX has no dilations there
        found = {k: v for k, v in found.items() if v != ()}
    if "select_prim" in found:
        found["select_prim"] = primitive(found["select_prim"])
    if name == "conv_general_dilated":
        numbers: Any = found["dimension_numbers"]
        found["dimension_numbers"] = jax.lax.ConvDimensionNumbers(*numbers)
    inner: Any = found.get("jaxpr")
    if name == "remat2":  # its program has no constants
        found["jaxpr"] = inner.jaxpr
        if found.get("policy"):
            # Texts of policies are expressions of JAX's names.
            known = vars(jax.checkpoint_policies)
            found["policy"] = eval(str(found["policy"]), known)
    if name == "jit":
        results = len(inner.out_avals)
        found |= {
            "in_shardings": (UNSPECIFIED,) * operands,
            "in_layouts": (None,) * operands,
            "donated_invars": (False,) * operands,
            "out_shardings": (UNSPECIFIED,) * results,
            "out_layouts": (None,) * results,
        }
        found.setdefault("keep_unused", False)
    return found


def _placed(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """The params of a read or a write at places, as JAX's own classes have them."""
    mode = found["mode"].rpartition(".")[2]
    kind = GatherDimensionNumbers if name == "gather" else ScatterDimensionNumbers
    placed = {
        "mode": jax.lax.GatherScatterMode[mode],
        "dimension_numbers": kind(*found["dimension_numbers"]),
    }
    if name == "scatter":
        placed |= {"update_jaxpr": None, "update_consts": ()}
    return placed


def combined(name: str, dtype: Any) -> dict[str, Any]:
    """The program with which a scatter combines, which for ours goes without saying."""
    row = default().prims.get(name)
    applied = [p.applies for p in row.params if p.applies] if row else []
    if not applied:
        return {}
    jaxpr, consts = lax._reduction_jaxpr(
        getattr(jax.lax, applied[0]), core.ShapedArray((), dtype)
    )
    return {"update_jaxpr": jaxpr, "update_consts": consts}


def typed(ours: ClosedJaxpr) -> ClosedJaxpr:
    """The program with the types that JAX infers, equation by equation, for results."""

    def inferred(eqn: Eqn) -> tuple[ShapedArray, ...]:
        found = primitive(eqn.primitive)
        translation = Translation()
        given = {key: translation.param(value) for key, value in eqn.params}
        written = params(eqn.primitive, given, len(eqn.inputs))
        written |= translation.combined(eqn)
        operands = [aval(a.aval) for a in eqn.inputs]
        results, _ = found.abstract_eval(*operands, **written)
        return tuple(map(keys.aval, results if found.multiple_results else [results]))

    return typed_by(ours, inferred)


def aval(ours: ShapedArray) -> Any:
    """A type as JAX's."""
    dtype = keys.dtype(ours.dtype)
    return core.ShapedArray(ours.shape, dtype, weak_type=ours.weak_type)


def bind(name: str, /, *values: Any, **given: Any) -> Any:
    """A primitive of JAX applied; one that has several results gives a list."""
    found = primitive(name)
    written = params(name, given, len(values))
    written |= combined(name, getattr(values[0], "dtype", None)) if values else {}
    return found.bind(*values, **written)


def axis_sizes(eqns: Sequence[Eqn]) -> dict[str, int]:
    """The named axes of equations, which JAX wants bound, each with a size.

    >>> from traceir import parse
    >>> text = "{ lambda ; . let a:i32[] = axis_index[axis_name=i] in (a,) }"
    >>> axis_sizes(parse(text).eqns)
    {'i': 2}
    """
    found: dict[str, int] = {}
    for eqn in eqns:
        size: Any = dict(eqn.params).get("axis_size", 2)
        found |= dict.fromkeys(named_axes(eqn.primitive, eqn.params), max(size, 1))
        for inner in subjaxprs(eqn):
            found |= axis_sizes(inner.eqns)
    return found


def axis_effects(eqns: Sequence[Eqn]) -> set[Any]:
    """The effects that JAX gives equations about named axes, all but `ppermute`."""
    some = [eqn for eqn in eqns if eqn.primitive != "ppermute"]
    return set(map(core.NamedAxisEffect, axis_sizes(some)))


class Translation:
    """One program and those within it; equal programs stay one."""

    def __init__(self) -> None:
        self.programs: dict[int, Any] = {}
        self.vars: dict[Var, Any] = {}

    def program(self, ours: ClosedJaxpr) -> Any:
        """The program as a `ClosedJaxpr` of JAX."""
        if id(ours) not in self.programs:
            self.programs[id(ours)] = self._program(ours)
        return self.programs[id(ours)]

    def _program(self, ours: ClosedJaxpr) -> Any:
        return core.ClosedJaxpr(
            self.jaxpr(ours),
            [
                lax._convert_element_type(keys.array(c), weak_type=v.aval.weak_type)
                for v, c in zip(ours.jaxpr.constvars, ours.consts, strict=True)
            ],
        )

    def jaxpr(self, ours: ClosedJaxpr) -> Any:
        """The program as a `Jaxpr` of JAX, without the values of its constants."""
        jaxpr = ours.jaxpr
        return core.Jaxpr(
            [self.atom(v) for v in jaxpr.constvars],
            [self.atom(v) for v in jaxpr.invars],
            [self.atom(a) for a in jaxpr.outvars],
            [self.eqn(e) for e in jaxpr.eqns],
            axis_effects(jaxpr.eqns),
            debug_info=core.DebugInfo(
                "case",
                jaxpr.debug_name or "f",
                ("",) * len(jaxpr.invars),
                ("",) * len(jaxpr.outvars),
            ),
        )

    def eqn(self, eqn: Eqn) -> Any:
        """An equation; a program in its params is translated too."""
        given = {key: self.param(value) for key, value in eqn.params}
        return core.new_jaxpr_eqn(
            [self.atom(a) for a in eqn.inputs],
            [self.atom(v) for v in eqn.outputs],
            primitive(eqn.primitive),
            params(eqn.primitive, given, len(eqn.inputs)) | self.combined(eqn),
            axis_effects([eqn]),
        )

    def combined(self, eqn: Eqn) -> dict[str, Any]:
        """The params that JAX wants besides ours: the program of a scatter."""
        first = eqn.inputs[:1]
        return combined(eqn.primitive, first[0].aval.dtype) if first else {}

    def param(self, value: Any) -> Any:
        """The value of a param: programs are translated."""
        if isinstance(value, tuple):
            return tuple(map(self.param, value))
        return self.program(value) if isinstance(value, ClosedJaxpr) else value

    def atom(self, atom: Atom) -> Any:
        """A variable or a literal."""
        if isinstance(atom, Literal):
            weak = atom.aval.weak_type
            python = atom.value if isinstance(atom.value, int | float) else None
            usual = atom.aval.dtype.name in USUAL
            value = python if weak and usual and python is not None else atom.array[()]
            return core.Literal(value, aval(atom.aval))
        if atom not in self.vars:
            self.vars[atom] = core.Var(aval(atom.aval))
        return self.vars[atom]
