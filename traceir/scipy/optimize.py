"""Minima of functions, named as in `jax.scipy.optimize`. Serves: face.missing"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from traceir import numpy as jnp
from traceir.lax import while_loop
from traceir.numpy.linalg import norm
from traceir.transforms import value_and_grad

__all__ = ["OptimizeResults", "minimize"]

# The slope must fall to so much of what it was, and the value by so much of it.
CURVATURE, DECREASE = 0.9, 1e-4
# So many trials along a line, and it has failed: the interval is beyond halving.
TRIES = 50


class OptimizeResults(NamedTuple):
    """The point that was found, with the values, gradient and counts there."""

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


class _Search(NamedTuple):
    """A search along a line: an interval of steps, the trial, and what is there."""

    low: Any
    f_low: Any
    high: Any
    step: Any
    done: Any
    tries: Any
    fun: Any
    jac: Any


class _Descent(NamedTuple):
    """A point of the descent, with an estimate of the inverse of the Hessian."""

    x: Any
    fun: Any
    jac: Any
    inverse: Any
    tries: Any
    turns: Any
    failed: Any


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """A local minimum of a function of one vector, from `x0`, by its gradient.

    `method` is "BFGS". `tol`, or `options["gtol"]`, is the norm of the gradient at
    which it stops (1e-5), `options["norm"]` which norm (that of infinity), and
    `options["maxiter"]` how many turns it may take (200 for each element).

    Raises ValueError for another method, TypeError for a point that is no vector.

    >>> found = minimize(lambda x: jnp.sum((x - 3.0) ** 2), jnp.zeros(2), method="BFGS")
    >>> bool(found.success), jnp.round(found.x, 3)
    (True, Array([3., 3.], dtype=float32))
    """
    if method.lower() != "bfgs":
        raise ValueError(f"the method is 'BFGS', got {method!r}")
    start = jnp.asarray(x0)
    if start.ndim != 1 or not jnp.issubdtype(start.dtype, jnp.floating):
        raise TypeError(
            f"the point is a vector of floats, got {start.aval.str_short()}"
        )
    given = dict(options or {})
    gtol = given.pop("gtol", 1e-5 if tol is None else tol)
    order = given.pop("norm", jnp.inf)
    most = given.pop("maxiter", None) or 200 * start.size
    given.pop("line_search_maxiter", None)
    if given:
        raise ValueError(f"options are gtol, norm and maxiter, got {', '.join(given)}")
    both = value_and_grad(lambda x: fun(x, *args))

    def small(jac: Any) -> Any:
        return norm(jac, ord=order) < gtol

    def more(state: _Descent) -> Any:
        going = ~small(state.jac) & ~state.failed
        return going & (state.turns < most)

    def turn(state: _Descent) -> _Descent:
        """One step along a direction of descent."""
        direction = -(state.inverse @ state.jac)
        found = _line(both, state.x, state.fun, state.jac, direction)
        moved, change = found.step * direction, found.jac - state.jac
        inverse = _updated(state.inverse, moved, change)
        return _Descent(
            jnp.where(found.done, state.x + moved, state.x),
            jnp.where(found.done, found.fun, state.fun),
            jnp.where(found.done, found.jac, state.jac),
            jnp.where(found.done, inverse, state.inverse),
            state.tries + found.tries,
            state.turns + 1,
            ~found.done,
        )

    first, jac = both(start)
    eye = jnp.eye(start.size, dtype=start.dtype)
    zero = jnp.int32(0)
    state = _Descent(start, first, jac, eye, zero + 1, zero, jnp.bool_(False))
    end: _Descent = while_loop(more, turn, state)
    success = small(end.jac)
    status = jnp.where(success, 0, jnp.where(end.failed, 5, 1))
    return OptimizeResults(
        end.x,
        success,
        status,
        end.fun,
        end.jac,
        end.inverse,
        end.tries,
        end.tries,
        end.turns,
    )


def _updated(inverse: Any, moved: Any, change: Any) -> Any:
    """The estimate of the inverse Hessian after a step, of which the gradient changed
    so; the same where they are not at an acute angle."""
    product = jnp.vdot(change, moved)
    scale = jnp.where(product > 0, 1 / jnp.where(product > 0, product, 1), 0)
    left = jnp.eye(moved.size, dtype=moved.dtype) - scale * jnp.outer(moved, change)
    new = left @ inverse @ left.T + scale * jnp.outer(moved, moved)
    return jnp.where(product > 0, new, inverse)


def _line(both: Any, x: Any, fun: Any, jac: Any, direction: Any) -> _Search:
    """A step along a direction at which the value and the slope have fallen enough.

    The interval grows until it holds such a step, then is halved.
    """
    slope = jnp.vdot(jac, direction)
    infinite = jnp.asarray(jnp.inf, x.dtype)

    def more(search: _Search) -> Any:
        return ~search.done & (search.tries < TRIES)

    def attempt(search: _Search) -> _Search:
        """Try a step, and narrow the interval."""
        value, gradient = both(x + search.step * direction)
        along = jnp.vdot(gradient, direction)
        above = value > fun + DECREASE * search.step * slope
        above = (
            above | (value >= search.f_low) & (search.low > 0) | ~jnp.isfinite(value)
        )
        flat = jnp.abs(along) <= -CURVATURE * slope
        done = ~above & flat
        beyond = ~above & (along >= 0)
        low = jnp.where(above | beyond, search.low, search.step)
        f_low = jnp.where(above | beyond, search.f_low, value)
        high = jnp.where(above | beyond, search.step, search.high)
        middle = jnp.where(jnp.isfinite(high), (low + high) / 2, 2 * search.step)
        step = jnp.where(done, search.step, middle)
        return _Search(low, f_low, high, step, done, search.tries + 1, value, gradient)

    zero = jnp.zeros((), x.dtype)
    one = jnp.ones((), x.dtype)
    start = _Search(zero, fun, infinite, one, jnp.bool_(False), jnp.int32(0), fun, jac)
    found: _Search = while_loop(more, attempt, start)
    return found
