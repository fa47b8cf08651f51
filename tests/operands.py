"""Hypothesis strategies: operands and params of each primitive that fit one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from operands_algebra import BUILDERS as ALGEBRA
from operands_complex import COMPLEX
from operands_fourier import FOURIER
from operands_host import HOST, over_devices
from operands_indexing import INDEXED
from operands_random import RANDOM
from operands_windows import WINDOWS

from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, HostFunction, Jaxpr, Literal, Var
from traceir.ir.typecheck import infer
from traceir.rules import default

Shape = tuple[int, ...]
Draw = Callable[[st.SearchStrategy[Any]], Any]
Built = tuple[list[ShapedArray], dict[str, Any]]

DTYPES = tuple(
    np.dtype(name)
    for name in ("bool", "int32", "int64", "uint8", "uint32", "float32", "float64")
)
INTEGERS = tuple(d for d in DTYPES if d.kind in "iu")
EXTENTS = st.sampled_from([0, 1, 2, 3])
SHAPES = st.lists(EXTENTS, max_size=3).map(tuple)


def build(draw: Draw, prim: str, dtype: np.dtype) -> Built:
    """Types of operands, and params, that fit one another."""
    for name in (prim, *reversed(default().prims[prim].classes)):
        if name in BUILDERS:
            return BUILDERS[name](draw, dtype)
    raise KeyError(f"no strategy for {prim}")


def _aval(shape: Sequence[int], dtype: np.dtype) -> ShapedArray:
    return ShapedArray(tuple(shape), dtype)


def _plain(draw: Draw, dtype: np.dtype) -> Built:
    return [_aval(draw(SHAPES), dtype)], {}


def _pair(draw: Draw, dtype: np.dtype) -> Built:
    shape = draw(SHAPES)
    shapes = [shape, draw(_partner(shape))]
    return [_aval(s, dtype) for s in draw(st.permutations(shapes))], {}


@st.composite
def _partner(draw: Draw, shape: Shape) -> Shape:
    """A scalar, or the shape with some extents 1."""
    if draw(st.integers(0, 3)) == 0:
        return ()
    return tuple(1 if draw(st.integers(0, 3)) == 0 else n for n in shape)


def _same(draw: Draw, dtype: np.dtype) -> Built:
    return [_aval(draw(SHAPES), dtype)] * 2, {}


def _three(draw: Draw, dtype: np.dtype) -> Built:
    shape = draw(SHAPES)
    shapes = [shape, draw(_partner(shape)), draw(_partner(shape))]
    return [_aval(s, dtype) for s in draw(st.permutations(shapes))], {}


def _pow(draw: Draw, dtype: np.dtype) -> Built:
    (x, y), params = _pair(draw, dtype)
    exponent = draw(st.sampled_from([dtype, *INTEGERS]))
    return [x, y.update(dtype=exponent)], params


def _integer_pow(draw: Draw, dtype: np.dtype) -> Built:
    low = -4 if dtype.kind == "f" else 0
    return [_aval(draw(SHAPES), dtype)], {"y": draw(st.integers(low, 13))}


def _round(draw: Draw, dtype: np.dtype) -> Built:
    method = draw(st.sampled_from([0, 1]))
    return [_aval(draw(SHAPES), dtype)], {"rounding_method": method}


def _clamp(draw: Draw, dtype: np.dtype) -> Built:
    shape = draw(SHAPES)
    bound = st.sampled_from([(), shape])
    return [_aval(s, dtype) for s in (draw(bound), shape, draw(bound))], {}


def _select(draw: Draw, dtype: np.dtype) -> Built:
    shape = draw(SHAPES)
    which = draw(st.sampled_from([np.dtype("bool"), *INTEGERS]))
    count = draw(st.integers(1, 2 if which.kind == "b" else 4))
    selector = _aval(draw(st.sampled_from([(), shape])), which)
    return [selector] + [_aval(shape, dtype)] * count, {}


def _convert(draw: Draw, dtype: np.dtype) -> Built:
    target = draw(st.sampled_from(DTYPES))
    return [_aval(draw(SHAPES), dtype)], {"new_dtype": target, "weak_type": False}


def _broadcast(draw: Draw, dtype: np.dtype) -> Built:
    shape = draw(SHAPES)
    dims = draw(st.permutations(range(len(shape))))
    dims = tuple(dims[: draw(st.integers(0, len(dims)))])
    extents = [draw(st.sampled_from([1, shape[d]])) for d in dims]
    params = {"shape": shape, "broadcast_dimensions": dims}
    return [_aval(extents, dtype)], params


def _reshape(draw: Draw, dtype: np.dtype) -> Built:
    shape = draw(SHAPES)
    sizes = draw(st.permutations([*shape, *[1] * draw(st.integers(0, 2))]))
    return [_aval(shape, dtype)], {"new_sizes": tuple(sizes)}


def _transpose(draw: Draw, dtype: np.dtype) -> Built:
    shape = draw(SHAPES)
    order = tuple(draw(st.permutations(range(len(shape)))))
    return [_aval(shape, dtype)], {"permutation": order}


def _squeeze(draw: Draw, dtype: np.dtype) -> Built:
    shape = (*draw(SHAPES), 1)
    ones = [d for d, n in enumerate(shape) if n == 1]
    dims = draw(st.lists(st.sampled_from(ones), unique=True))
    return [_aval(shape, dtype)], {"dimensions": tuple(dims)}


def _slice(draw: Draw, dtype: np.dtype) -> Built:
    shape = draw(SHAPES)
    ends = [sorted(draw(st.tuples(*[st.integers(0, n)] * 2))) for n in shape]
    strides = tuple(draw(st.integers(1, 3)) for _ in shape)
    params = {
        "start_indices": tuple(a for a, _ in ends),
        "limit_indices": tuple(b for _, b in ends),
        "strides": draw(st.sampled_from([None, strides])),
    }
    return [_aval(shape, dtype)], params


def _concatenate(draw: Draw, dtype: np.dtype) -> Built:
    shape = (*draw(SHAPES), draw(EXTENTS))
    along = draw(st.integers(0, len(shape) - 1))
    extents = draw(st.lists(EXTENTS, min_size=1, max_size=3))
    shapes = [(*shape[:along], n, *shape[along + 1 :]) for n in extents]
    return [_aval(s, dtype) for s in shapes], {"dimension": along}


def _stack(draw: Draw, dtype: np.dtype) -> Built:
    shape = draw(SHAPES)
    axis = draw(st.integers(0, len(shape)))
    return [_aval(shape, dtype)] * draw(st.integers(1, 3)), {"axis": axis}


def _sort(draw: Draw, dtype: np.dtype) -> Built:
    shape = (*draw(SHAPES), draw(EXTENTS))
    kinds = [dtype, *draw(st.lists(st.sampled_from(DTYPES), max_size=2))]
    return [_aval(shape, kind) for kind in kinds], {
        "dimension": draw(st.integers(0, len(shape) - 1)),
        "is_stable": draw(st.booleans()),
        "num_keys": draw(st.integers(1, len(kinds))),
    }


def _top_k(draw: Draw, dtype: np.dtype) -> Built:
    shape = (*draw(SHAPES), draw(EXTENTS))
    axis = draw(st.integers(0, len(shape) - 1))
    return [_aval(shape, dtype)], {"axis": axis, "k": draw(st.integers(0, shape[axis]))}


def _iota(draw: Draw, dtype: np.dtype) -> Built:
    shape = (*draw(SHAPES), draw(EXTENTS))
    along = draw(st.integers(0, len(shape) - 1))
    return [], {"dimension": along, "dtype": dtype, "shape": shape}


def _reduction(draw: Draw, dtype: np.dtype) -> Built:
    shape = draw(SHAPES)
    axes = draw(st.permutations(range(len(shape))))
    axes = tuple(axes[: draw(st.integers(0, len(axes)))])
    return [_aval(shape, dtype)], {"axes": axes}


def _cumulative(draw: Draw, dtype: np.dtype) -> Built:
    shape = (*draw(SHAPES), draw(EXTENTS))
    axis = draw(st.integers(0, len(shape) - 1))
    return [_aval(shape, dtype)], {"axis": axis, "reverse": draw(st.booleans())}


def _index_reduction(draw: Draw, dtype: np.dtype) -> Built:
    shape = (*draw(SHAPES), draw(st.integers(1, 4)))
    axis = draw(st.sampled_from([d for d, n in enumerate(shape) if n]))
    index = draw(st.sampled_from(INTEGERS))
    return [_aval(shape, dtype)], {"axes": (axis,), "index_dtype": index}


def _dot_general(draw: Draw, dtype: np.dtype) -> Built:
    """Both operands from batch, contracted and free extents in any order."""
    some = st.lists(EXTENTS, max_size=2)
    batch, contracted = draw(some), draw(some)
    sides = []
    for _ in range(2):
        labels = [("b", k) for k in range(len(batch))]
        labels += [("c", k) for k in range(len(contracted))]
        free = draw(st.lists(EXTENTS, max_size=1))
        labels += [("f", k) for k in range(len(free))]
        sizes = {"b": batch, "c": contracted, "f": free}
        order = draw(st.permutations(labels))
        shape = [sizes[kind][k] for kind, k in order]
        axes = [
            tuple(order.index((kind, k)) for k in range(len(sizes[kind])))
            for kind in "cb"
        ]
        sides.append((_aval(shape, dtype), *axes))
    (x, lc, lb), (y, rc, rb) = sides
    wider = [d for d in DTYPES if d.kind == dtype.kind and d.itemsize >= dtype.itemsize]
    params = {
        "dimension_numbers": ((lc, rc), (lb, rb)),
        "preferred_element_type": draw(st.sampled_from([None, *wider])),
    }
    return [x, y], params


def _jit(draw: Draw, dtype: np.dtype) -> Built:
    avals, params = build(draw, "max", dtype)
    x, y = map(Var, avals)
    (out,) = infer("max", avals, params)
    result = Var(out)
    jaxpr = Jaxpr((), (x, y), (Eqn("max", (x, y), (result,)),), (result, x))
    return avals, {"name": "f", "jaxpr": ClosedJaxpr(jaxpr, ())}


def _program(
    inputs: tuple[Var, ...], eqns: tuple[Eqn, ...], *outs: Atom
) -> ClosedJaxpr:
    return ClosedJaxpr(Jaxpr((), inputs, eqns, outs), ())


def _max(x: Var, y: Var) -> Eqn:
    return Eqn("max", (x, y), tuple(map(Var, infer("max", (x.aval, y.aval)))))


def _cond(draw: Draw, dtype: np.dtype) -> Built:
    aval = _aval(draw(SHAPES), dtype)
    x, y, z = Var(aval), Var(aval), Var(aval)
    larger = _max(x, y)
    branches = (
        _program((x, y), (larger,), *larger.outputs),
        _program((y, z), (), y),
        _program((x, z), (), z),
    )
    index = _aval((), np.dtype("int32"))
    return [index, aval, aval], {"branches": branches[: draw(st.integers(1, 3))]}


def _while(draw: Draw, dtype: np.dtype) -> Built:
    # The body is run once where the predicate holds at first.
    more, aval = _aval((), np.dtype("bool")), _aval(draw(SHAPES), dtype)
    go, x, y = Var(more), Var(aval), Var(aval)
    larger = _max(x, y)
    done = Literal(False, more)
    params = {
        "cond_jaxpr": _program((go, y), (), go),
        "cond_nconsts": 0,
        "body_jaxpr": _program((x, go, y), (larger,), done, *larger.outputs),
        "body_nconsts": 1,
    }
    return [aval, more, aval], params


def _scan(draw: Draw, dtype: np.dtype) -> Built:
    shape, length = draw(SHAPES), draw(st.integers(0, 3))
    aval = _aval(shape, dtype)
    x, y, z = Var(aval), Var(aval), Var(aval)
    first = _max(y, z)
    second = _max(x, first.outputs[0])
    params = {
        "jaxpr": _program((x, y, z), (first, second), *second.outputs, z, y),
        "length": length,
        "reverse": draw(st.booleans()),
        "num_consts": 1,
        "num_carry": 1,
        "unroll": draw(st.integers(0, 2)),
    }
    return [aval, aval, _aval((length, *shape), dtype)], params


def _rev(draw: Draw, dtype: np.dtype) -> Built:
    shape = draw(SHAPES)
    some = st.lists(st.sampled_from(range(len(shape))), unique=True)
    return [_aval(shape, dtype)], {
        "dimensions": tuple(draw(some if shape else st.just([])))
    }


def _split(draw: Draw, dtype: np.dtype) -> Built:
    shape, sizes = draw(SHAPES), draw(st.lists(EXTENTS, min_size=1, max_size=3))
    axis = draw(st.integers(0, len(shape)))
    whole = (*shape[:axis], sum(sizes), *shape[axis:])
    return [_aval(whole, dtype)], {"sizes": tuple(sizes), "axis": axis}


def _unstack(draw: Draw, dtype: np.dtype) -> Built:
    shape = (*draw(SHAPES), draw(EXTENTS))
    return [_aval(shape, dtype)], {"axis": draw(st.integers(0, len(shape) - 1))}


def _pad(draw: Draw, dtype: np.dtype) -> Built:
    shape = draw(SHAPES)
    config = []
    for n in shape:
        interior = draw(st.integers(0, 2))
        low = draw(st.integers(-3, 3))
        least = -(low + n + max(0, n - 1) * interior)
        config.append((low, draw(st.integers(max(least, -3), max(least, 3))), interior))
    return [_aval(shape, dtype), _aval((), dtype)], {"padding_config": tuple(config)}


def _remat(draw: Draw, dtype: np.dtype) -> Built:
    avals, params = _jit(draw, dtype)
    return avals, {
        "jaxpr": params["jaxpr"],
        "differentiated": draw(st.booleans()),
        "policy": None,
        "prevent_cse": draw(st.booleans()),
    }


def _custom(*rules: str) -> Callable[[Draw, np.dtype], Built]:
    def call(draw: Draw, dtype: np.dtype) -> Built:
        avals, params = _jit(draw, dtype)
        given = {"name": "f", "call_jaxpr": params["jaxpr"], "num_consts": 0}
        return avals, {**given, **{rule: HostFunction("r") for rule in rules}}

    return call


BUILDERS: dict[str, Callable[[Draw, np.dtype], Built]] = {
    "name": lambda draw, dtype: (_plain(draw, dtype)[0], {"name": "kept"}),
    **ALGEBRA,
    **WINDOWS,
    **RANDOM,
    **FOURIER,
    **COMPLEX,
    **HOST,
    "reduce_xor": _reduction,
    **INDEXED,
    "pointwise1": _plain,
    "pointwise2": _pair,
    "special1": _plain,
    "special2": _pair,
    "regularized_incomplete_beta": _three,
    "add_any": _same,
    "reduction": _reduction,
    "fold_across": _reduction,
    "cumulative": _cumulative,
    "index_reduction": _index_reduction,
    "pow": _pow,
    "integer_pow": _integer_pow,
    "round": _round,
    "clamp": _clamp,
    "select_n": _select,
    "convert_element_type": _convert,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "transpose": _transpose,
    "squeeze": _squeeze,
    "slice": _slice,
    "concatenate": _concatenate,
    "stack": _stack,
    "sort": _sort,
    "top_k": _top_k,
    "iota": _iota,
    "dot_general": _dot_general,
    "jit": _jit,
    "cond": _cond,
    "while": _while,
    "scan": _scan,
    "rev": _rev,
    "split": _split,
    "unstack": _unstack,
    "pad": _pad,
    "remat2": _remat,
    "shard_map": lambda draw, dtype: over_devices(draw, *_jit(draw, dtype)),
    "custom_jvp_call": _custom("jvp"),
    "custom_primitive_call": _custom("primitive"),
    "custom_vjp_call": _custom("fwd", "bwd"),
}
