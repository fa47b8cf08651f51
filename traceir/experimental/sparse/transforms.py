"""Functions of arrays that take sparse ones, and derivatives by values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir import numpy as jnp
from traceir.base.tracebacks import wraps
from traceir.experimental.sparse import layouts
from traceir.experimental.sparse.bcoo import BCOO
from traceir.experimental.sparse.bcsr import BCSR
from traceir.experimental.sparse.elements import (
    added,
    bcoo_multiply_sparse,
    bcoo_reduce_sum,
    on_values,
)
from traceir.experimental.sparse.products import bcoo_dot_general
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Literal, subjaxprs
from traceir.ir.structs import ShapeDtypeStruct
from traceir.jit.make_jaxpr import make_jaxpr
from traceir.pytrees import flatten
from traceir.tracing.trace import bind
from traceir.transforms import grad as dense_grad
from traceir.transforms import jacfwd as dense_jacfwd
from traceir.transforms import jacrev as dense_jacrev
from traceir.transforms import value_and_grad as dense_value_and_grad

# Functions of an element that are 0 at 0.
_KEEP_ZERO = frozenset(
    [
        "abs",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cbrt",
        "ceil",
        "convert_element_type",
        "conj",
        "erf",
        "erf_inv",
        "expm1",
        "floor",
        "imag",
        "integer_pow",
        "log1p",
        "name",
        "neg",
        "real",
        "reduce_precision",
        "round",
        "sign",
        "sin",
        "sinh",
        "sqrt",
        "square",
        "stop_gradient",
        "tan",
        "tanh",
    ]
)
# A program within an equation whose operands and results are the equation's.
_CALLS = {
    "jit": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_primitive_call": "call_jaxpr",
    "remat2": "jaxpr",
}


def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """A function of arrays that takes sparse ones, too.

    Sums, products, reductions, changes of shape and functions that are 0 at 0 give
    sparse results; any other operation sees all elements. `use_tracer` changes nothing.

    >>> x = BCOO.fromdense(jnp.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> sparsify(lambda x: jnp.tanh(x) * 2)(x)
    BCOO(float32[2, 2], nse=2)
    >>> sparsify(lambda x: jnp.sum(x * x))(x)
    Array(13., dtype=float32)
    """

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = flatten.flatten((args, kwargs), is_leaf=_is_sparse)
        values = [v.to_bcoo() if isinstance(v, BCSR) else v for v in leaves]
        told: list[Any] = []

        def flat(*given: Any) -> Any:
            rest = iter(given)
            own = [next(rest) if k in traced else v for k, v in enumerate(values)]
            plain, named = tree.unflatten(own)
            found, out_tree = flatten.flatten(f(*plain, **named))
            told.append(out_tree)
            return found

        traced = [k for k, v in enumerate(values) if _is_array(v)]
        operands = [values[k] for k in traced]
        types = [
            ShapeDtypeStruct(v.shape, v.dtype) if isinstance(v, BCOO) else v
            for v in operands
        ]
        if not any(isinstance(v, BCOO) for v in operands):
            return f(*args, **kwargs)
        closed = make_jaxpr(flat)(*types)
        return told[-1].unflatten(_run(closed, operands))

    return call


def _is_sparse(value: Any) -> bool:
    return isinstance(value, BCOO | BCSR)


def _is_array(value: Any) -> bool:
    return isinstance(value, BCOO | int | float | complex) or hasattr(value, "dtype")


def _dense(value: Any) -> Any:
    return value.todense() if isinstance(value, BCOO) else value


def _run(closed: ClosedJaxpr, operands: Sequence[Any]) -> list[Any]:
    """The results of a program, of which operands may be sparse."""
    jaxpr = closed.jaxpr
    known = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    known.update(zip(jaxpr.invars, operands, strict=True))

    def value(atom: Any) -> Any:
        return atom.value if isinstance(atom, Literal) else known[atom]

    for eqn in jaxpr.eqns:
        given = [value(atom) for atom in eqn.inputs]
        known.update(zip(eqn.outvars, _equation(eqn, given), strict=True))
    return [value(atom) for atom in jaxpr.outvars]


def _equation(eqn: Eqn, given: Sequence[Any]) -> Sequence[Any]:
    """The results of an equation: sparse where a rule keeps them so."""
    if any(isinstance(v, BCOO) for v in given):
        if eqn.primitive in _CALLS:
            return _run(next(subjaxprs(eqn)), given)
        found = _sparse(eqn, given)
        if found is not None:
            return [found]
    dense = map(_dense, given)
    results = bind(eqn.primitive, *dense, **dict(eqn.params))
    return results if isinstance(results, list | tuple) else [results]


def _sparse(eqn: Eqn, given: Sequence[Any]) -> Any:
    """The result of an equation by a rule for sparse operands; None if none has one."""
    params: dict[str, Any] = dict(eqn.params)
    first = given[0]
    alone = len(given) == 1
    kind = eqn.outvars[0].aval.dtype
    if eqn.primitive in _KEEP_ZERO and alone:
        if eqn.primitive == "integer_pow" and params["y"] <= 0:
            return None
        return on_values(lambda data: bind(eqn.primitive, data, **params), first)
    match eqn.primitive:
        case "add" | "add_any" | "sub":
            left, right = given
            if not all(isinstance(v, BCOO) for v in given) or not _alike(left, right):
                return None
            return added(left, -right if eqn.primitive == "sub" else right)
        case "mul":
            left, right = given
            if all(isinstance(v, BCOO) for v in given):
                return (
                    bcoo_multiply_sparse(left, right) if _alike(left, right) else None
                )
            mat, other = (left, right) if isinstance(left, BCOO) else (right, left)
            return mat * other if mat.shape == eqn.outvars[0].aval.shape else None
        case "div" if isinstance(first, BCOO) and not isinstance(given[1], BCOO):
            return (first * (1 / jnp.asarray(given[1]))).astype(kind)
        case "dot_general":
            return bcoo_dot_general(
                *given,
                dimension_numbers=params["dimension_numbers"],
                preferred_element_type=params.get("preferred_element_type"),
            )
        case "reduce_sum":
            found = bcoo_reduce_sum(first, axes=params["axes"])
            return found if found.ndim else found.todense()
        case "concatenate" if all(isinstance(v, BCOO) for v in given):
            layouts_of = {(v.n_batch, v.n_dense) for v in given}
            last = first.n_batch + first.n_sparse
            if len(layouts_of) > 1 or params["dimension"] >= last:
                return None
            return layouts.bcoo_concatenate(given, dimension=params["dimension"])
        case "slice":
            return layouts.bcoo_slice(first, **params)
        case "rev":
            return layouts.bcoo_rev(first, params["dimensions"])
        case "squeeze":
            return layouts.bcoo_squeeze(first, dimensions=params["dimensions"])
        case "transpose":
            return layouts.bcoo_transpose(first, permutation=params["permutation"])
        case "reshape":
            return layouts.bcoo_reshape(first, new_sizes=params["new_sizes"])
        case "broadcast_in_dim" if alone:
            return layouts.bcoo_broadcast_in_dim(
                first,
                shape=params["shape"],
                broadcast_dimensions=params["broadcast_dimensions"],
            )
    return None


def _alike(left: BCOO, right: BCOO) -> bool:
    own = left.shape, left.n_batch, left.n_dense
    return own == (right.shape, right.n_batch, right.n_dense)


# -- derivatives ----------------------------------------------------------------------


def _by_values(
    transform: Callable[..., Any], fun: Callable[..., Any], argnums: Any, args: Any
) -> tuple[Any, tuple[Any, ...]]:
    """A transform of a function of the values of sparse arguments; these arguments."""
    wanted = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    sparse = [(k % len(args), args[k]) for k in wanted]

    def of_values(*given: Any, **kwargs: Any) -> Any:
        own = list(given)
        for k, mat in sparse:
            if _is_sparse(mat):
                own[k] = _with_data(mat, given[k])
        return fun(*own, **kwargs)

    chosen = {k for k, mat in sparse if _is_sparse(mat)}
    values = tuple(a.data if k in chosen else a for k, a in enumerate(args))
    return transform(of_values, argnums=argnums), values


def _with_data(mat: Any, data: Any) -> Any:
    """A sparse array with other values, of which there may be a batch."""
    more = data.ndim - mat.data.ndim
    batch = data.shape[:more]
    parts = [mat.indices, mat.indptr] if isinstance(mat, BCSR) else [mat.indices]
    spread = [jnp.broadcast_to(part, (*batch, *part.shape)) for part in parts]
    return type(mat)((data, *spread), shape=(*batch, *mat.shape))


def _sparse_like(args: Any, argnums: Any, found: Any) -> Any:
    """Derivatives by values as sparse arrays, for each result."""
    if isinstance(argnums, int):
        mat = args[argnums]
        return (
            flatten.map_(lambda d: _with_data(mat, d), found)
            if _is_sparse(mat)
            else found
        )
    return tuple(
        _sparse_like(args, k, part) for k, part in zip(argnums, found, strict=True)
    )


def grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """`grad` by the values of sparse arguments: sparse, at the same places.

    >>> x = BCOO.fromdense(jnp.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> grad(lambda x: jnp.sum(x @ jnp.ones(2)))(x)
    BCOO(float32[2, 2], nse=2)
    """
    made: Callable[..., Any] = _derivative(dense_grad)(fun, argnums, has_aux)
    return made


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """`value_and_grad` by the values of sparse arguments."""

    def transform(f: Any, argnums: Any) -> Any:
        return dense_value_and_grad(f, argnums, has_aux=has_aux)

    def call(*args: Any, **kwargs: Any) -> Any:
        made, values = _by_values(transform, fun, argnums, args)
        value, found = made(*values, **kwargs)
        return value, _sparse_like(args, argnums, found)

    return wraps(fun)(call)


def _derivative(dense: Callable[..., Any]) -> Callable[..., Any]:
    def made(
        fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
    ) -> Callable[..., Any]:
        def transform(f: Any, argnums: Any) -> Any:
            return dense(f, argnums, has_aux=has_aux)

        def call(*args: Any, **kwargs: Any) -> Any:
            own, values = _by_values(transform, fun, argnums, args)
            found = own(*values, **kwargs)
            if has_aux:
                return _sparse_like(args, argnums, found[0]), found[1]
            return _sparse_like(args, argnums, found)

        return wraps(fun)(call)

    return made


_forward, _reverse = _derivative(dense_jacfwd), _derivative(dense_jacrev)


def jacfwd(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The Jacobian in forward mode by the values of sparse arguments: for each result a
    sparse array, as a batch."""
    made: Callable[..., Any] = _forward(fun, argnums, has_aux)
    return made


def jacrev(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The Jacobian in reverse mode by the values of sparse arguments."""
    made: Callable[..., Any] = _reverse(fun, argnums, has_aux)
    return made


jacobian = jacrev
