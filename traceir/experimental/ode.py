"""Ordinary differential equations, by steps whose length follows from their error.

The method is Dormand and Prince's of order 5, with the solution between two points by
its interpolant of order 4; the derivative in reverse solves the adjoint equation. It
has none forward.

Serves: derive.grad
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from traceir import lax
from traceir import numpy as jnp
from traceir.flatten_util import ravel_pytree
from traceir.pytrees import flatten
from traceir.transforms.autodiff.jvp_vjp import vjp
from traceir.transforms.batching.vmap import vmap
from traceir.transforms.custom.closure_convert import closure_convert
from traceir.transforms.custom.custom_vjp import custom_vjp

# Dormand and Prince, "A family of embedded Runge-Kutta formulae" (1980): the times of
# the stages, their shares in one another and in the result, and in its error.
TIMES = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERRORS = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
# Hairer, Norsett and Wanner, "Solving ordinary differential equations I", section II.6:
# the last coefficient of the solution between two points.
BETWEEN = (
    -12715105075 / 11282082432,
    0,
    87487479700 / 32700410799,
    -10690763975 / 1880347072,
    701980252875 / 199316789632,
    -1453857185 / 822651844,
    69997945 / 29380423,
)
# How much longer or shorter than the last a step may be, and how much shorter than
# the error would allow.
LONGER, SHORTER, SAFE = 10.0, 0.2, 0.9

Flow = Callable[..., Any]


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = np.inf,
    hmax: float = np.inf,
) -> Any:
    """The solution of ``dy/dt = func(y, t, *args)`` at times `t`, by `y0` at the first.

    `y0` is an array or a tree of arrays, of which the results have one dimension more.
    Times grow. The error of a step is at most ``atol + rtol * |y|``; `mxstep` steps are
    taken at most from one time to the next, and none is longer than `hmax`. `args` and
    what `func` closes over may be differentiated in reverse. Raises TypeError for
    options that are no numbers.

    >>> import traceir.numpy as jnp
    >>> odeint(lambda y, t: -y, jnp.array(1.0), jnp.array([0.0, 1.0])).round(4)
    Array([1.    , 0.3679], dtype=float32)
    """
    for option in (rtol, atol, mxstep, hmax):
        if isinstance(option, bool) or not isinstance(option, (int, float, np.number)):
            raise TypeError(f"a tolerance of odeint is a number: got {option!r}")
    for leaf in flatten.flatten((y0, t, args))[0]:
        jnp.asarray(leaf)
    times = jnp.asarray(t)
    call, captured = closure_convert(func, y0, times[0], *args)
    flat, rebuild = ravel_pytree(y0)

    def flow(y: Any, at: Any, *rest: Any) -> Any:
        return ravel_pytree(call(rebuild(y), at, *rest))[0]

    options = rtol, atol, mxstep, hmax
    found = _solved(flow, options, flat, times, *args, *captured)
    return _rows(rebuild, found)


def _rows(rebuild: Callable[[Any], Any], found: Any) -> Any:
    """The tree of each row, its leaves stacked."""
    return vmap(rebuild)(found)


@partial(custom_vjp, nondiff_argnums=(0, 1))
def _solved(flow: Flow, options: Any, y0: Any, times: Any, *args: Any) -> Any:
    """The states at all times, a row each."""
    rtol, atol, mxstep, hmax = options

    def now(y: Any, t: Any) -> Any:
        return flow(y, t, *args)

    slope = now(y0, times[0])
    first = jnp.clip(_first_step(now, times[0], y0, slope, rtol, atol), max=hmax)
    # The state where the last step ended, and what interpolates within it.
    coefficients = jnp.stack([y0] * 5)
    start = y0, slope, times[0], first, times[0], coefficients

    def to_time(carry: Any, target: Any) -> Any:
        def going(state: Any) -> Any:
            count, (_, _, at, step, _, _) = state
            return (at < target) & (count < mxstep) & (step > 0)

        def stepped(state: Any) -> Any:
            count, (y, slope, at, step, before, between) = state
            after, stages = _stages(now, y, slope, at, step)
            error = step * sum(c * k for c, k in zip(ERRORS, stages) if c)
            scale = atol + rtol * jnp.maximum(jnp.abs(y), jnp.abs(after))
            ratio = jnp.sqrt(jnp.mean(jnp.square(error / scale)))
            factor = jnp.clip(SAFE * ratio**-0.2, SHORTER, LONGER)
            ahead = jnp.clip(
                step * jnp.where(ratio == 0, LONGER, factor), min=0, max=hmax
            )
            taken = after, stages[-1], at + step, at, _between(y, after, step, stages)
            old = y, slope, at, before, between
            good = ratio <= 1
            y, slope, at, before, between = (
                jnp.where(good, new, own) for new, own in zip(taken, old)
            )
            return count + 1, (y, slope, at, ahead, before, between)

        _, carry = lax.while_loop(going, stepped, (0, carry))
        _, _, at, _, before, between = carry
        length = jnp.where(at == before, 1, at - before)
        part = (target - before) / length
        a, b, c, d, e = between
        rest = 1 - part
        found = a + part * (b + rest * (c + part * (d + rest * e)))
        return carry, found

    _, found = lax.scan(to_time, start, times[1:])
    return jnp.concatenate([y0[None], found])


def _stages(flow: Flow, y: Any, slope: Any, at: Any, step: Any) -> Any:
    """The state after a step, and the slopes of all stages."""
    slopes = [slope]
    for time, shares in zip(TIMES[1:], STAGES[1:], strict=True):
        moved = sum(a * k for a, k in zip(shares, slopes, strict=True) if a)
        state = y + step * moved
        slopes.append(flow(state, at + time * step))
    return state, slopes


def _between(y: Any, after: Any, step: Any, slopes: Any) -> Any:
    """The coefficients of the solution within a step."""
    rise = after - y
    bend = step * slopes[0] - rise
    last = rise - step * slopes[-1] - bend
    more = step * sum(c * k for c, k in zip(BETWEEN, slopes, strict=True) if c)
    return jnp.stack([y, rise, bend, last, more])


def _first_step(
    flow: Flow, at: Any, y: Any, slope: Any, rtol: float, atol: float
) -> Any:
    """The length of the first step, by the slope and how it changes."""
    scale = atol + jnp.abs(y) * rtol
    size, speed = (jnp.linalg.norm(v / scale) for v in (y, slope))
    slow = (size < 1e-5) | (speed < 1e-5)
    trial = jnp.where(slow, 1e-6, 0.01 * size / jnp.where(slow, 1, speed))
    bend = flow(y + trial * slope, at + trial) - slope
    bent = jnp.linalg.norm(bend / scale) / trial
    straight = (speed <= 1e-15) & (bent <= 1e-15)
    most = jnp.where(straight, 1, jnp.maximum(speed, bent))
    length = jnp.where(straight, jnp.maximum(1e-6, trial * 1e-3), (0.01 / most) ** 0.2)
    return jnp.minimum(100 * trial, length).astype(at.dtype)


def _forward(flow: Flow, options: Any, y0: Any, times: Any, *args: Any) -> Any:
    found = _solved(flow, options, y0, times, *args)
    return found, (found, times, args)


def _backward(flow: Flow, options: Any, saved: Any, cotangents: Any) -> Any:
    """The cotangents of the state, times and arguments, by the adjoint equation."""
    found, times, args = saved

    def adjoint(state: Any, back: Any, *args: Any) -> Any:
        """The flow in reverse: of the state, its cotangent, and those of the rest."""
        y, pulled, _, _ = state
        slope, pull = vjp(lambda y, t, *args: flow(y, t, *args), y, -back, *args)
        by_state, by_time, *by_args = pull(pulled)
        return -slope, by_state, by_time, tuple(by_args)

    zeros = flatten.map_(jnp.zeros_like, args)
    start = cotangents[-1], jnp.zeros_like(times[0]), zeros

    def to_earlier(carry: Any, k: Any) -> Any:
        pulled, by_start, by_args = carry
        slope = flow(found[k], times[k], *args)
        by_time = jnp.dot(slope, cotangents[k])
        state = found[k], pulled, by_start - by_time, by_args
        span = jnp.stack([-times[k], -times[k - 1]])
        rtol, atol, mxstep, hmax = options
        moved = odeint(
            adjoint,
            state,
            span,
            *args,
            rtol=rtol,
            atol=atol,
            mxstep=mxstep,
            hmax=hmax,
        )
        _, pulled, by_start, by_args = flatten.map_(lambda leaf: leaf[1], moved)
        return (pulled + cotangents[k - 1], by_start, by_args), by_time

    order = jnp.arange(len(times) - 1, 0, -1)
    (pulled, by_start, by_args), by_times = lax.scan(to_earlier, start, order)
    return pulled, jnp.concatenate([by_start[None], by_times[::-1]]), *by_args


_solved.defvjp(_forward, _backward)
