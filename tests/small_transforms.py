"""A small system of derivatives, batches and loops, to be made wrong in one respect.

It traces nothing: functions run as they are, on values that know what is done to them.
Serves: derive.*, vmap.*, cond, while, scan
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np

from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Session
from traceir.conform.casefiles.values import TypedValue
from traceir.conform.judging.run import Unsupported
from traceir.conform.systems.jitted import Jitted, Target
from traceir.conform.systems.systems import Scope
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr

Fun = Callable[..., Any]


@dataclass(eq=False)
class Recorded:
    """A value of a derivative, and how the cotangents of what it is made of follow."""

    level: int
    value: Any
    parents: Sequence[tuple[Recorded, Fun]] = ()
    number: int = field(default_factory=count().__next__)


@dataclass(eq=False)
class Examples:
    """Values of all examples, along the first dimension."""

    level: int
    value: Any
    axis: str | None = None


@dataclass(eq=False)
class Dual:
    """A value and its tangent."""

    level: int
    value: Any
    tangent: Any


KNOWING = (Recorded, Examples, Dual)


def plain(value: Any) -> Any:
    """The array that a value stands for."""
    while isinstance(value, KNOWING):
        value = value.value
    return np.asarray(value)


def rank(value: Any) -> int:
    """The number of dimensions of one example of a value."""
    inner = value.value if isinstance(value, KNOWING) else value
    own = rank(inner) if isinstance(inner, KNOWING) else np.ndim(inner)
    return own - isinstance(value, Examples)


def _strong(*args: Any) -> list[np.ndarray]:
    """Numbers of Python take the type of the arrays beside them."""
    known = [a.dtype for a in args if isinstance(a, np.ndarray | np.generic)]
    usual = {float: np.dtype("float32"), int: np.dtype("int32"), bool: np.dtype(bool)}
    dtype = known[0] if known else usual[type(args[0])]
    return [np.asarray(a, getattr(a, "dtype", dtype)) for a in args]


KERNELS: Mapping[str, Fun] = {
    "add": lambda x, y: np.add(*_strong(x, y)),
    "sub": lambda x, y: np.subtract(*_strong(x, y)),
    "mul": lambda x, y: np.multiply(*_strong(x, y)),
    "neg": lambda x: np.negative(*_strong(x)),
    "lt": lambda x, y: np.less(*_strong(x, y)),
    "gt": lambda x, y: np.greater(*_strong(x, y)),
    "choose": lambda p, x, y: np.where(p, y, x),
    "sum": lambda x, axis: np.sum(x, axis=axis, dtype=x.dtype),
}


class SmallTransforms:
    """The system, and an implementation of sessions by it."""

    name = "small transforms"
    version = ""
    choices: Mapping[str, str] = {}

    def __init__(self) -> None:
        self.levels = count(1)
        self.named: list[tuple[str, int]] = []
        self.namespaces: Mapping[str, Any] = {
            "numpy": SimpleNamespace(
                sum=lambda x: self.bind("sum", x, axis=tuple(range(rank(x)))),
                multiply=lambda x, y: self.bind("mul", x, y),
                add=lambda x, y: self.bind("add", x, y),
            ),
            "lax": SimpleNamespace(
                cond=self.cond,
                while_loop=self.while_loop,
                fori_loop=self.fori_loop,
                scan=self.scan,
                psum=self.psum,
            ),
            "api": SimpleNamespace(
                grad=self.grad,
                jvp=self.jvp,
                vmap=self.vmap,
                debug=SimpleNamespace(callback=self.callback),
            ),
        }

    # Operations ----------------------------------------------------------------------

    def bind(self, primitive: str, /, *values: Any, **params: Any) -> Any:
        """An operation of the innermost level that an operand has."""
        tops = [v.level for v in values if isinstance(v, KNOWING)]
        if not tops:
            return KERNELS[primitive](*values, **params)
        top = max(tops)
        own = [getattr(v, "level", 0) == top for v in values]
        inner = [v.value if o else v for v, o in zip(values, own)]
        if any(isinstance(v, Recorded) for v, o in zip(values, own) if o):
            found = self.bind(primitive, *inner, **params)
            pulls = self.pulls(primitive, inner, params)
            parents = [(v, p) for v, o, p in zip(values, own, pulls) if o and p]
            return Recorded(top, found, parents)
        if any(isinstance(v, Dual) for v, o in zip(values, own) if o):
            tangents = [v.tangent if o else 0.0 for v, o in zip(values, own)]
            found = self.bind(primitive, *inner, **params)
            return Dual(top, found, self.pushed(primitive, inner, tangents))
        return self.bind_examples(primitive, top, values, inner, own, params)

    def bind_examples(
        self,
        primitive: str,
        top: int,
        values: Sequence[Any],
        inner: list[Any],
        own: Sequence[bool],
        params: Mapping[str, Any],
    ) -> Any:
        """An operation on all examples at once: ranks are made equal."""
        if primitive == "sum":
            params = {"axis": tuple(a + 1 for a in params["axis"])}
        most = max(map(rank, values))
        for k, (value, is_own) in enumerate(zip(values, own)):
            if is_own and isinstance(inner[k], np.ndarray):
                shape = inner[k].shape
                extra = (1,) * (most - rank(value))
                inner[k] = inner[k].reshape(shape[:1] + extra + shape[1:])
        return Examples(top, self.bind(primitive, *inner, **params))

    def pushed(self, primitive: str, args: list[Any], tangents: list[Any]) -> Any:
        """The tangent of a sum or a product."""
        if primitive == "mul":
            (x, y), (dx, dy) = args, tangents
            tangents = [self.bind("mul", dx, y), self.bind("mul", x, dy)]
        return self.bind("add", *tangents)

    def pulls(
        self, primitive: str, args: Sequence[Any], params: Mapping[str, Any]
    ) -> Sequence[Fun | None]:
        """For each operand, its cotangent by that of the result."""
        shapes = [plain(a).shape for a in args]

        def to(k: int, ct: Any) -> Any:
            if plain(ct).shape != shapes[k] and not shapes[k]:
                return self.bind("sum", ct, axis=tuple(range(rank(ct))))
            return ct

        match primitive:
            case "add":
                return [lambda ct: to(0, ct), lambda ct: to(1, ct)]
            case "sub":
                return [lambda ct: to(0, ct), lambda ct: to(1, self.bind("neg", ct))]
            case "mul":
                x, y = args
                return [
                    lambda ct: to(0, self.bind("mul", ct, y)),
                    lambda ct: to(1, self.bind("mul", x, ct)),
                ]
            case "neg":
                return [lambda ct: self.bind("neg", ct)]
            case "sum":
                one = np.ones(shapes[0], "float32")
                return [lambda ct: self.bind("mul", one, ct)]
        return [None] * len(args)

    # Transforms ----------------------------------------------------------------------

    def grad(self, fun: Fun) -> Fun:
        """The gradient by the first argument."""

        def call(x: Any, *rest: Any) -> Any:
            level = self.level("grad")
            start = Recorded(level, x)
            out = fun(start, *rest)
            cotangents: dict[Recorded, Any] = {}
            if isinstance(out, Recorded) and out.level == level:
                cotangents[out] = np.ones(plain(out).shape, "float32")
            for node in sorted(reached(out), key=lambda v: -v.number):
                for parent, pull in node.parents:
                    self.accumulate(cotangents, parent, pull(cotangents[node]))
            return cotangents.get(start, np.zeros(plain(x).shape, "float32"))

        return call

    def jvp(self, fun: Fun, primals: Any, tangents: Any) -> tuple[Any, Any]:
        """The result and its tangent."""
        level = self.level("jvp")
        out = fun(*(Dual(level, p, t) for p, t in zip(primals, tangents)))
        return out.value, out.tangent

    def level(self, transform: str) -> int:
        """The level of a transform that begins: greater than that of all around it."""
        return next(self.levels)

    def accumulate(self, cotangents: Any, node: Recorded, ct: Any) -> None:
        """One more cotangent of a value."""
        known = cotangents.get(node)
        cotangents[node] = ct if known is None else self.bind("add", known, ct)

    def vmap(self, fun: Fun, in_axes: Any = 0, axis_name: str | None = None) -> Fun:
        """The function of all examples."""

        def call(*args: Any) -> Any:
            axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
            level = self.level("vmap")
            pairs = zip(args, axes)
            size = next(lead(a) for a, axis in pairs if axis is not None)
            self.named.append((axis_name or "", level))
            given = [a if x is None else Examples(level, a) for a, x in zip(args, axes)]
            found = fun(*given)
            self.named.pop()
            many = found if isinstance(found, tuple) else (found,)
            outs = tuple(self.gathered(v, level, size) for v in many)
            return outs if isinstance(found, tuple) else outs[0]

        return call

    def gathered(self, value: Any, level: int, size: int) -> Any:
        """The results of all examples; one that all share is repeated."""
        if isinstance(value, Examples) and value.level == level:
            return value.value
        if isinstance(value, KNOWING):
            one = np.ones((size,), "float32")
            return self.bind("mul", value, one)
        return np.broadcast_to(value, (size, *np.shape(value))).copy()

    def psum(self, x: Any, axis_name: str) -> Any:
        """The sum over the examples of a named axis."""
        level = dict(self.named)[axis_name]
        if not isinstance(x, Examples):
            return x
        if x.level == level:
            return self.bind("sum", x.value, axis=(0,))
        return Examples(x.level, self._psum_below(x.value, level))

    def _psum_below(self, value: Examples, level: int) -> Any:
        assert value.level == level  # one axis within another
        whole = value.value
        return np.sum(whole, axis=0, dtype=whole.dtype)

    # Control flow --------------------------------------------------------------------

    def cond(self, pred: Any, true: Fun, false: Fun, *operands: Any) -> Any:
        """One branch, or both where each example has its own predicate."""
        if isinstance(pred, Examples):
            return self.bind("choose", pred, false(*operands), true(*operands))
        return true(*operands) if plain(pred) else false(*operands)

    def while_loop(self, test: Fun, body: Fun, carry: Any) -> Any:
        """The body as long as the test is true."""
        while plain(test(carry)):
            carry = body(carry)
        return carry

    def fori_loop(self, lower: Any, upper: Any, body: Fun, carry: Any) -> Any:
        """The body for each number from the lower bound to before the upper one."""
        for k in range(int(plain(lower)), int(plain(upper))):
            carry = body(np.int32(k), carry)
        return carry

    def scan(self, body: Fun, carry: Any, rows: Any) -> Any:
        """The body for each row in turn."""
        kept = []
        for row in self.rows(rows):
            carry, out = body(carry, row)
            kept.append(out)
        return self.scanned(carry, kept)

    def rows(self, rows: Any) -> Sequence[Any]:
        """The rows in the order in which they are taken."""
        return list(rows)

    def scanned(self, carry: Any, kept: Sequence[Any]) -> Any:
        """The last carry, and what the steps have given."""
        return carry, np.stack([plain(v) for v in kept])

    def callback(self, function: Fun, *args: Any) -> None:
        """Refuse a function of the host."""
        function(*map(plain, args))

    # As a system of sessions ---------------------------------------------------------

    def jit(self, fun: Fun, static: Any, options: Any) -> Fun:
        """The function itself: it need not be traced."""
        return fun

    def via(self, transform: str, target: Target) -> Fun:
        """There are no stages."""
        raise Unsupported(f"calls through {transform}")

    def function(self, program: ClosedJaxpr) -> Fun:
        """Programs are not read."""
        raise Unsupported("programs with types")

    def array(self, value: TypedValue) -> Any:
        """The NumPy array."""
        return value.array

    def value(self, leaf: Any) -> TypedValue:
        """A result with its type, which is never weak."""
        array = np.asarray(leaf)
        return TypedValue(ShapedArray(array.shape, array.dtype), array)

    def program(self, staged: Any) -> ClosedJaxpr:
        """Nothing is staged."""
        raise Unsupported("programs")

    def setting(self, name: str, args: tuple[Any, ...]) -> Scope | None:
        """There are no settings."""
        raise Unsupported(name)

    def probe(self, name: str, args: tuple[Any, ...]) -> Any:
        """There is nothing to ask."""
        raise Unsupported(name)

    def rule(self, error: Exception) -> str | None:
        """Errors name no rules."""
        return None

    def session(self, session: Session) -> Sequence[Outcome]:
        """The outcomes of the system, one for each call."""
        return Jitted(session, self).run()

    def type(self, program: ClosedJaxpr) -> Any:
        """Not for this one."""
        raise Unsupported("programs")

    eval = type


def lead(value: Any) -> int:
    """The number of examples along the first dimension."""
    if isinstance(value, Examples):
        return plain(value).shape[1]
    return plain(value).shape[0]


def reached(out: Any) -> set[Recorded]:
    """The values of which a value is made, with itself."""
    found: set[Recorded] = set()
    todo = [out] if isinstance(out, Recorded) else []
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += [parent for parent, _ in node.parents]
    return found
