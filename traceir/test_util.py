"""Checks of derivatives against finite differences. Serves: check.*

For tests of functions with rules of their own, and of whatever else is differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.tracebacks import publish as _publish
from traceir.dtypes import float0, is_inexact, kind_of, part_dtype
from traceir.pytrees import flatten
from traceir.tracing.trace import Value, typeof
from traceir.transforms.autodiff.jvp_vjp import jvp, vjp

Function = Callable[..., Any]
# By dtype, of complex numbers that of their parts: the step of a central difference,
# near the cube root of the rounding error,
# and how far the derivative may be from the difference, relatively and absolutely.
EPS = {"float16": 1e-1, "float32": 5e-3, "float64": 6e-6}
# A difference is as good as its step: where one fails, shorter ones are tried.
SHORTER = (1.0, 0.1, 0.02)
TOLERANCE = {"float16": 1e-1, "float32": 6e-3, "float64": 1e-6}
# How far values of a dtype may be from one another that are meant to be equal.
CLOSE = {"bfloat16": 1e-2, "float16": 1e-3, "float32": 1e-6, "float64": 1e-15}
Tolerance = float | Mapping[Any, float] | None


def check_grads(
    f: Function,
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compare derivatives of `f` at `args`, up to an order, with finite differences.

    `modes` are "fwd" (`jvp`) and "rev" (`vjp`), or one of them; orders above 1 are in
    every sequence of them. `eps` is the step, by default one that fits the dtype.
    Raises AssertionError (check.value, check.derivative) with the argument's path.

    >>> import traceir.numpy as jnp
    >>> check_grads(lambda x: jnp.sin(x) * x, (0.5,), order=2)
    """
    modes = (modes,) if isinstance(modes, str) else modes
    if not set(modes) <= {"fwd", "rev"}:
        raise ValueError(f"modes are 'fwd' and 'rev', got {modes!r}")
    if order < 1:
        return
    args = tuple(args)
    if "fwd" in modes:
        check_jvp(f, partial(jvp, f), args, atol, rtol, eps)
        given = flatten.map_(partial(_direction, _random()), args)

        def tangents_out(*at: Any) -> Any:
            return jvp(f, at, given)[1]

        check_grads(tangents_out, args, order - 1, modes, atol, rtol, eps)
    if "rev" in modes:
        check_vjp(f, partial(vjp, f), args, atol, rtol, eps)
        out = flatten.map_(partial(_direction, _random()), f(*args))

        def pulled(*at: Any) -> Any:
            return _floating(vjp(f, *at)[1](out))

        check_grads(pulled, args, order - 1, modes, atol, rtol, eps)


def check_jvp(
    f: Function,
    f_jvp: Function,
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compare `f_jvp(args, tangents)`, results and their tangents, with differences.

    >>> import traceir
    >>> check_jvp(lambda x: x * x, lambda p, t: (p[0] ** 2, 2 * p[0] * t[0]), (3.0,))
    """
    args = tuple(args)
    for path, tangents in _directions(args):
        out, found = f_jvp(args, tangents)
        _compare("check.value", out, f(*args), "the result", args, atol, rtol)

        def compare(wanted: Any, found: Any = found, path: str = path) -> None:
            at = f"the tangent by {path}"
            _compare("check.derivative", found, wanted, at, args, atol, rtol)

        _near(compare, f, args, tangents, eps)


def check_vjp(
    f: Function,
    f_vjp: Function,
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compare `f_vjp(*args)`, results and a function of cotangents, with differences.

    For a direction v of each argument, <ct, J v> must be <J^T ct, v>; of complex
    numbers, the real parts of these.

    >>> import traceir
    >>> check_vjp(lambda x: x * x, lambda x: (x * x, lambda ct: (2 * x * ct,)), (3.0,))
    """
    args = tuple(args)
    out, pull = f_vjp(*args)
    _compare("check.value", out, f(*args), "the result", args, atol, rtol)
    cotangent = flatten.map_(partial(_direction, _random()), out)
    cotangents = pull(cotangent)
    for path, tangents in _directions(args):
        found = _inner(tangents, cotangents)
        dtypes = _parts((args, out)) & EPS.keys()
        scale = np.dtype(min(dtypes, key=lambda n: np.dtype(n).itemsize))

        def compare(
            wanted: Any,
            found: float = found,
            path: str = path,
            scale: np.dtype = scale,
        ) -> None:
            moved = _inner(wanted, cotangent)
            pair = np.asarray(found, scale), np.asarray(moved, scale)
            at = f"the cotangent of {path}"
            _compare("check.derivative", *pair, at, args, atol, rtol)

        _near(compare, f, args, tangents, eps)


def check_close(
    xs: Any, ys: Any, atol: Tolerance = None, rtol: Tolerance = None, err_msg: str = ""
) -> None:
    """Compare two trees of arrays, leaf by leaf, within tolerances.

    A tolerance is a number, or a dict of them by dtype; the less precise dtype counts.
    Raises AssertionError (check.value) for other structures or shapes, and for values
    that are apart.

    >>> check_close((1.0, [2.0]), (1.0, [2.0000001]))
    """
    leaves, tree = flatten.flatten(xs)
    others, other = flatten.flatten(ys)
    if tree != other:
        got = f"structures {tree} and {other}; {err_msg}"
        raise rules.error("check.value", got=got)
    for path, x, y in zip(tree.paths(), leaves, others, strict=True):
        names = {part_dtype(typeof(v).dtype).name for v in (x, y)}
        absolute, relative = (_tolerance(given, names) for given in (atol, rtol))
        a, b = np.asarray(x), np.asarray(y)
        same = a.shape == b.shape and np.allclose(a, b, relative, absolute, True)
        if not same:
            at = flatten.key_path(path, "xs")
            got = f"{_text(a)} for {at}, and {_text(b)}; {err_msg}"
            raise rules.error("check.value", got=got)


def _tolerance(given: Tolerance, names: set[str]) -> float:
    """The greatest tolerance of dtypes, 0 for those without."""
    if isinstance(given, int | float):
        return given
    table = CLOSE if given is None else {np.dtype(k).name: v for k, v in given.items()}
    return max(table.get(name, 0.0) for name in names)


def numerical_jvp(
    f: Function, args: Sequence[Any], tangents: Sequence[Any], eps: float | None = None
) -> Any:
    """The change of `f` along tangents, by a central difference.

    >>> round(float(numerical_jvp(lambda x: x * x, (3.0,), (1.0,))), 2)
    6.0
    """
    step = _step(args) if eps is None else eps

    def moved(sign: float) -> Any:
        return f(*flatten.map_(partial(_moved, sign * step), tuple(args), tangents))

    return flatten.map_(partial(_slope, 2 * step), moved(1.0), moved(-1.0))


def _step(args: Sequence[Any]) -> float:
    """The step that fits the least precise dtype."""
    return max(EPS[n] for n in _parts(args) & EPS.keys())


def _parts(tree: Any) -> set[str]:
    """The dtypes of leaves, of complex ones that of their parts."""
    return {part_dtype(typeof(v).dtype).name for v in flatten.leaves(tree)}


def _wide(dtype: np.dtype) -> str:
    """The dtype in which differences of a floating or complex one are taken."""
    return "complex128" if kind_of(dtype) == "c" else "float64"


def _near(
    compare: Callable[[Any], None],
    f: Function,
    args: tuple[Any, ...],
    tangents: Any,
    eps: float | None,
) -> None:
    """Compare with the difference of a step, or of the first that agrees.

    Raises the AssertionError of the longest step if none does.
    """
    steps = [eps] if eps is not None else [_step(args) * part for part in SHORTER]
    errors: list[AssertionError] = []
    for step in steps:
        try:
            return compare(numerical_jvp(f, args, tangents, step))
        except AssertionError as error:
            errors.append(error)
    raise errors[0]


def _moved(step: float, x: Value, t: Any) -> Value:
    aval = typeof(x)
    if not is_inexact(aval.dtype):
        return x
    wide = _wide(aval.dtype)
    return (np.asarray(x, wide) + step * np.asarray(t, wide)).astype(aval.dtype)


def _slope(width: float, above: Value, below: Value) -> Any:
    aval = typeof(above)
    if not is_inexact(aval.dtype):
        return np.zeros(aval.shape, float0)
    wide = _wide(aval.dtype)
    change = np.asarray(above, wide) - np.asarray(below, wide)
    return (change / width).astype(aval.dtype)


def _random() -> np.random.Generator:
    return np.random.default_rng(0)


def _direction(random: np.random.Generator, x: Value) -> Any:
    """A direction to move a value in; float0 for one that cannot be moved."""
    aval = typeof(x)
    if not is_inexact(aval.dtype):
        return np.zeros(aval.shape, float0)
    found = random.uniform(0.5, 1.5, aval.shape)
    if kind_of(aval.dtype) == "c":
        found = found + 1j * random.uniform(0.5, 1.5, aval.shape)
    return found.astype(aval.dtype)


def _directions(args: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """The path of each floating leaf, and tangents that move it alone."""
    leaves, tree = flatten.flatten(args)
    random = _random()
    still = [np.zeros(typeof(x).shape, _tangent_dtype(x)) for x in leaves]
    for k, path in enumerate(tree.paths()):
        if is_inexact(typeof(leaves[k]).dtype):
            moved = [*still[:k], _direction(random, leaves[k]), *still[k + 1 :]]
            yield flatten.key_path(path, "args"), tree.unflatten(moved)


def _tangent_dtype(x: Value) -> np.dtype:
    dtype = typeof(x).dtype
    return dtype if is_inexact(dtype) else float0


def _floating(tree: Any) -> list[Any]:
    """The leaves that have a value; those of dtype float0 have none."""
    return [v for v in flatten.leaves(tree) if getattr(v, "dtype", None) != float0]


def _inner(a: Any, b: Any) -> float:
    """The inner product of two trees of one structure, its real part."""
    pairs = zip(flatten.leaves(a), flatten.leaves(b), strict=True)
    found = 0.0
    for x, y in pairs:
        if getattr(x, "dtype", None) != float0 and getattr(y, "dtype", None) != float0:
            wide = _wide(typeof(x).dtype)
            found += float(np.sum(np.asarray(x, wide) * np.asarray(y, wide)).real)
    return found


def _compare(
    rule: str,
    found: Any,
    wanted: Any,
    what: str,
    args: tuple[Any, ...],
    atol: float | None,
    rtol: float | None,
) -> None:
    """Raise AssertionError unless two trees agree, leaf by leaf."""
    leaves, tree = flatten.flatten(found)
    others, other = flatten.flatten(wanted)
    if tree != other:
        raise rules.error(rule, got=f"{what} has the structure {tree}, not {other}")
    for path, a, b in zip(tree.paths(), leaves, others, strict=True):
        dtype = getattr(a, "dtype", None) or typeof(a).dtype
        if dtype == float0:
            continue
        usual = TOLERANCE.get(part_dtype(dtype).name, 0.0)
        relative = usual if rtol is None else rtol
        absolute = usual if atol is None else atol
        x, y = np.asarray(a), np.asarray(b)
        same = x.shape == y.shape and np.allclose(x, y, relative, absolute, True)
        if not same:
            at = f"{what}{flatten.key_path(path)}"
            got = f"{_text(x)} for {at}, by differences {_text(y)}, at {args!r:.200}"
            raise rules.error(rule, got=got)


def _text(x: np.ndarray) -> str:
    return np.array2string(x, threshold=8, precision=6).replace("\n", "")


_publish(globals())
