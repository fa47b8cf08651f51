"""Checks in traced functions, whose outcome is a value. Serves: callback.ordered

A check is an equation that calls the host; `checkify` interprets a function's program
with a state beside it: the number of the first check that has failed, and what its
message shows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from traceir import numpy as jnp
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import wraps
from traceir.debug import callback
from traceir.experimental.automatic_checks import (
    DivisionByZeroError,
    FailedCheckError,
    JaxException,
    NaNError,
    OutOfBoundsError,
    failing,
)
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Literal, subjaxprs
from traceir.jit.make_jaxpr import make_jaxpr
from traceir.lax.control.choice import switch
from traceir.lax.control.loops import while_loop
from traceir.lax.control.scans import scan
from traceir.pytrees import flatten
from traceir.pytrees.registry import register_pytree_node
from traceir.tracing.callbacks import Called
from traceir.tracing.staging import constants_of
from traceir.tracing.trace import Tracer, Value, bind_all

JaxRuntimeError = JaxException
ErrorCategory: TypeAlias = type[JaxException]
Categories: TypeAlias = frozenset[ErrorCategory]

user_checks: Categories = frozenset({FailedCheckError})
nan_checks: Categories = frozenset({NaNError})
index_checks: Categories = frozenset({OutOfBoundsError})
div_checks: Categories = frozenset({DivisionByZeroError})
float_checks: Categories = nan_checks | div_checks
automatic_checks: Categories = float_checks | index_checks
all_checks: Categories = automatic_checks | user_checks

# The number of the first failed check, and the values in the messages of all.
Found = tuple[Value, list[list[Value]]]
CALLS = {"jit": "jaxpr", "remat2": "jaxpr", "custom_jvp_call": "call_jaxpr"}
CALLS |= {"custom_vjp_call": "call_jaxpr", "custom_primitive_call": "call_jaxpr"}


@dataclass(frozen=True, eq=False)
class Raise:
    """A check that runs outside of `checkify`: it raises where it fails."""

    message: str

    def __call__(self, ok: Any, *args: Any, **kwargs: Any) -> None:
        """Raise FailedCheckError unless `ok`."""
        if not ok:
            raise FailedCheckError(self.message.format(*args, **kwargs))


def check(pred: Any, msg: str, *args: Any, debug: bool = False, **kwargs: Any) -> None:
    """Check that a boolean is true when the program runs.

    Within `checkify` a failure is a part of the result; elsewhere it is raised. The
    message is formatted with the other arguments. With `debug`, it is left out outside
    of `checkify`.

    Raises FailedCheckError where the boolean is known and false.

    >>> import traceir.numpy as jnp
    >>> def f(x):
    ...     check(x > 0, "not positive: {x}", x=x)
    ...     return jnp.log(x)
    >>> error, out = checkify(f)(-1.0)
    >>> error.get()
    'not positive: -1.0 (`check` failed)'
    """
    test: Any = jnp.all(pred)
    if isinstance(test, Tracer) and not test.knows("level.concretize.bool"):
        callback(Raise(msg), test, *args, ordered=True, **kwargs)
    elif not debug:
        Raise(msg)(bool(test), *args, **kwargs)


debug_check = functools.partial(check, debug=True)


@dataclass(frozen=True, eq=False)
class Site:
    """A check in a program: its number, its kind, and its message."""

    number: int
    kind: ErrorCategory
    message: str
    called: Called | None


class Error:
    """The outcome of the checks of one call: a tree, which `jit` may return."""

    def __init__(self, code: Value, payloads: Any, sites: Sequence[Site]) -> None:
        self._code = code
        self._payloads = payloads
        self._sites = tuple(sites)

    def get(self) -> str | None:
        """The message of the first check that has failed; None if none has."""
        error = self.get_exception()
        return None if error is None else str(error)

    def get_exception(self) -> JaxException | None:
        """The exception of the first check that has failed; None if none has."""
        codes = jnp.ravel(self._code)
        failed = [int(k) for k in codes if int(k)]
        if not failed:
            return None
        site = self._sites[failed[0] - 1]
        if site.called is None:
            return site.kind(site.message)
        at = [int(k) for k in codes].index(failed[0])
        own = self._payloads[site.number - 1]
        shown = [x if jnp.ndim(self._code) == 0 else x[at] for x in own]
        leaves = iter([True, *shown])
        fixed, tree = dict(site.called.fixed), site.called.tree
        every = [
            fixed[k] if k in fixed else next(leaves) for k in range(tree.num_leaves)
        ]
        args, kwargs = tree.unflatten(every)
        text = site.message.format(*args[1:], **kwargs)
        return site.kind(f"{text} (`check` failed)")

    def throw(self) -> None:
        """Raise the exception of the first check that has failed, if one has."""
        error = self.get_exception()
        if error is not None:
            raise error

    def __repr__(self) -> str:
        return f"Error({self.get()!r})" if _known(self._code) else "Error(traced)"


def _known(value: Any) -> bool:
    return not isinstance(value, Tracer)


register_pytree_node(
    Error,
    lambda error: ((error._code, error._payloads), error._sites),
    lambda sites, parts: Error(parts[0], parts[1], sites),
)


def check_error(error: Error) -> None:
    """Raise the failure that an outcome has, or pass it on to `checkify` around."""
    if _known(error._code):
        error.throw()
        return
    check(
        error._code == 0, "a check failed in a function that `checkify` was applied to"
    )


def init_error() -> Error:
    """The outcome of no checks.

    >>> init_error().get() is None
    True
    """
    return Error(jnp.int32(0), [], ())


def checkify(
    f: Callable[..., Any], errors: Categories = user_checks
) -> Callable[..., tuple[Error, Any]]:
    """A function that returns the outcome of its checks beside its result.

    `errors` says which: those that `check` has written, and those for NaNs, divisions
    by zero and indices out of bounds, which each operation gets. It can be jitted, and
    goes into loops and choices. The first failure of a run is told.

    >>> import traceir, traceir.numpy as jnp
    >>> f = traceir.jit(checkify(lambda x, y: x / y, errors=div_checks))
    >>> error, _ = f(1.0, 0.0)
    >>> "division by zero" in error.get()
    True
    >>> f(1.0, 2.0)[0].get() is None
    True
    """

    @wraps(f)
    def checked(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        """Trace the function, and interpret its program."""
        closed, shape = make_jaxpr(_unjitted(f), return_shape=True)(*args, **kwargs)
        leaves, _ = flatten.flatten((args, kwargs))
        sites = list(_sites(closed, errors))
        run = CheckInterpreter({key: site for key, site, _ in sites})
        empty = [[jnp.zeros(a.shape, a.dtype) for a in avals] for _, _, avals in sites]
        state: Found = (jnp.int32(0), empty)
        outs, (code, payloads) = run.program(closed, leaves, state)
        numbered = [replace(site) for _, site, _ in sites]
        return Error(code, payloads, numbered), flatten.structure(shape).unflatten(outs)

    return checked


def _unjitted(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: f(*args, **kwargs)


def _sites(closed: ClosedJaxpr, errors: Categories) -> Iterator[Any]:
    """The checks of a program and of those in it: equation, site, types it shows."""
    seen: set[tuple[int, Any]] = set()
    todo = [closed]
    count = 0
    while todo:
        program = todo.pop()
        for eqn in program.eqns:
            todo.extend(subjaxprs(eqn))
            for kind, message, called, avals in _checks_of(eqn, errors):
                key = id(eqn), kind
                if key not in seen:
                    seen.add(key)
                    count += 1
                    yield key, Site(count, kind, message, called), avals


def _checks_of(eqn: Eqn, errors: Categories) -> Iterator[Any]:
    """The kinds of failure that an equation can have, with message and operands."""
    if (called := _check_called(eqn)) is not None:
        if FailedCheckError in errors:
            shown = [atom.aval for atom in eqn.inputs[1:]]
            yield FailedCheckError, called.function.message, called, shown
        return
    for kind in sorted(errors - user_checks, key=lambda kind: kind.__name__):
        if failing(kind, eqn) is not None:
            where = f" at {eqn.source}" if eqn.source else ""
            yield kind, f"{kind.says} in `{eqn.primitive}`{where}", None, []


def _check_called(eqn: Eqn) -> Any:
    """The call of a check in an equation; None if it is none."""
    if eqn.primitive != "debug_callback":
        return None
    called = getattr(eqn.param("callback"), "function", None)
    return called if isinstance(getattr(called, "function", None), Raise) else None


class CheckInterpreter:
    """The interpreter of programs with a state beside them."""

    def __init__(self, sites: dict[Any, Site]) -> None:
        self.sites = sites
        self.kinds: set[Any] = {kind for _, kind in sites}
        self.eqns = {key for key, _ in sites}

    def program(
        self, closed: ClosedJaxpr, values: Sequence[Value], state: Found
    ) -> tuple[list[Value], Found]:
        """The results of a program, and the state after it."""
        known: dict[Any, Value] = dict(
            zip(closed.jaxpr.constvars, constants_of(closed), strict=True)
        )
        known.update(zip(closed.jaxpr.invars, values, strict=True))

        def read(atom: Any) -> Value:
            return atom.array if isinstance(atom, Literal) else known[atom]

        for eqn in closed.eqns:
            outs, state = self.eqn(eqn, list(map(read, eqn.inputs)), state)
            known.update(zip(eqn.outputs, outs, strict=True))
        return list(map(read, closed.jaxpr.outvars)), state

    def eqn(self, eqn: Eqn, xs: list[Value], state: Found) -> tuple[Any, Found]:
        """The results of an equation, and the state after it."""
        called = _check_called(eqn)
        if called is not None:
            site = self.sites.get((id(eqn), FailedCheckError))
            return [], state if site is None else _failed(state, site, ~xs[0], xs[1:])
        given = eqn.stored()
        if not any(self.has_checks(inner) for inner in subjaxprs(eqn)):
            outs: Any = bind_all(eqn.primitive, xs, eqn.params)
        elif eqn.primitive in CALLS:
            outs, state = self.program(given[CALLS[eqn.primitive]], xs, state)
        else:
            outs, state = getattr(self, f"_{eqn.primitive}")(given, xs, state)
        if id(eqn) in self.eqns:
            for kind in self.kinds:
                site = self.sites.get((id(eqn), kind))
                rule = failing(kind, eqn)
                if site is not None and rule is not None:
                    state = _failed(state, site, rule(xs, outs), [])
        return outs, state

    def has_checks(self, closed: ClosedJaxpr) -> bool:
        """True if a program, or one in it, has a check."""
        return any(
            id(eqn) in self.eqns or any(map(self.has_checks, subjaxprs(eqn)))
            for eqn in closed.eqns
        )

    def _cond(self, given: Any, xs: list[Value], state: Found) -> tuple[Any, Found]:
        """A choice, with the state beside its operands."""

        def branch(closed: ClosedJaxpr) -> Callable[..., Any]:
            return lambda ops, inner: self.program(closed, ops, inner)

        index = jnp.asarray(xs[0], "int32")
        found = switch(index, list(map(branch, given["branches"])), xs[1:], state)
        return found[0], found[1]

    def _while(self, given: Any, xs: list[Value], state: Found) -> tuple[Any, Found]:
        """A loop, with the state in its carry."""
        tests, uses = given["cond_nconsts"], given["body_nconsts"]
        tested, used, init = xs[:tests], xs[tests : tests + uses], xs[tests + uses :]

        def test(carry: Any) -> tuple[Value, Found]:
            outs, after = self.program(
                given["cond_jaxpr"], [*tested, *carry[0]], carry[1]
            )
            return outs[0], after

        def body(carry: Any) -> Any:
            _, values, inner = carry
            outs, inner = self.program(given["body_jaxpr"], [*used, *values], inner)
            more, inner = test((outs, inner))
            return more, outs, inner

        more, first = test((init, state))
        _, outs, after = while_loop(lambda c: c[0], body, (more, init, first))
        return outs, after

    def _scan(self, given: Any, xs: list[Value], state: Found) -> tuple[Any, Found]:
        """A scan, with the state in its carry."""
        consts, count = given["num_consts"], given["num_carry"]
        fixed, init = xs[:consts], xs[consts : consts + count]

        def step(carry: Any, rows: Any) -> Any:
            values, inner = carry
            outs, inner = self.program(given["jaxpr"], [*fixed, *values, *rows], inner)
            return (outs[:count], inner), outs[count:]

        (last, after), stacks = scan(
            step,
            (init, state),
            xs[consts + count :],
            length=given["length"],
            reverse=given["reverse"],
        )
        return [*last, *stacks], after


def _failed(state: Found, site: Site, failed: Value, shown: Sequence[Value]) -> Found:
    """The state after a check: the first failure stays."""
    code, payloads = state
    new = jnp.logical_and(code == 0, failed)
    own = [jnp.where(new, x, y) for x, y in zip(shown, payloads[site.number - 1])]
    rest = [own if k == site.number - 1 else p for k, p in enumerate(payloads)]
    return jnp.where(new, jnp.int32(site.number), code), rest
