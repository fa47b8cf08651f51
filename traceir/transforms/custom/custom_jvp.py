"""Functions with a forward-mode rule of their own. Serves: custom_jvp.*, custom.*"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_points, wraps
from traceir.ir.jaxpr import HostFunction, Params
from traceir.jit.staging import function_name
from traceir.pytrees import flatten
from traceir.tracing.named_primitives import WITH_FUNCTIONS
from traceir.tracing.trace import Tracer, Value, bind, typeof
from traceir.transforms.custom import custom_calls
from traceir.transforms.custom.symbolic_zeros import SymbolicZero, told
from traceir.transforms.rules.registry import (
    JVP,
    JvpResult,
    Tangent,
    Tangents,
    Values,
    Zero,
)

Rule = Callable[..., Any]


@entry_points("__init__", "__call__", "defjvp", "defjvps")
class custom_jvp:
    """A function whose derivative is given by a rule, not by its equations.

    `rule(primals, tangents)`, registered with `defjvp`, returns the results and their
    tangents; it must be linear in the tangents. Every mode follows from it. Arguments
    in `nondiff_argnums` or `nondiff_argnames` are no primals: the rule takes them in
    front of the others.

    Raises AttributeError (custom.undefined) when called without a rule, TypeError
    (custom_jvp.pair, custom_jvp.tree, custom_jvp.types) for what a rule returns.

    >>> import traceir, traceir.numpy as jnp
    >>> @traceir.custom_jvp
    ... def log1pexp(x):
    ...     return jnp.log(1.0 + jnp.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * t
    >>> traceir.grad(log1pexp)(100.0)
    Array(1., dtype=float32, weak_type=True)
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Iterable[str] = (),
    ) -> None:
        wraps(fun)(self)
        self.fun = fun
        self.jvp: Rule | None = None
        self.symbolic_zeros = False
        self._nondiff = custom_calls.Nondiff(fun, nondiff_argnums, nondiff_argnames)
        self._name = function_name(fun)

    def defjvp(self, jvp: Rule, symbolic_zeros: bool = False) -> Rule:
        """Register the rule, and return it: this is a decorator.

        With `symbolic_zeros` it gets a `SymbolicZero` for each tangent that is known to
        be zero, and may return them.
        """
        self.jvp, self.symbolic_zeros = jvp, symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Rule | None) -> None:
        """Register a rule for each argument: of its tangent, the result, the primals.

        Their results are added up; None is a rule that gives zero.

        >>> import traceir
        >>> f = traceir.custom_jvp(lambda x, y: x * y)
        >>> f.defjvps(lambda t, out, x, y: t * y, None)
        >>> traceir.grad(f, argnums=(0, 1))(2.0, 3.0)[0]
        Array(3., dtype=float32, weak_type=True)
        """

        def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
            out = self(*primals)
            parts = [
                rule(tangent, out, *primals)
                for rule, tangent in zip(jvps, tangents, strict=True)
                if rule is not None
            ]
            return out, flatten.map_(_total, out, *parts)

        self.jvp, self.symbolic_zeros = jvp, False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        if self.jvp is None:
            raise rules.error("custom.undefined", got=f"the custom_jvp {self._name}")
        primals, others = self._nondiff.split(args, kwargs)
        others = {k: flatten.map_(_constant, value) for k, value in others.items()}
        labels = self._nondiff.labels(len(primals))
        leaves, tree = custom_calls.flatten_arguments(primals, self._name, labels)
        fun = custom_calls.completed(self.fun, others)
        body = custom_calls.CustomCallBody(fun, tree, self._name, "custom_jvp", labels)
        front = tuple(custom_calls.in_order(others))
        rule = JvpRule(self.jvp, front, body, self.symbolic_zeros)
        named = HostFunction(function_name(self.jvp), rule)
        return custom_calls.bind_call(
            "custom_jvp_call",
            body,
            leaves,
            jvp=named,
            symbolic_zeros=self.symbolic_zeros,
        )


def _total(primal: Value, *parts: Tangent) -> Tangent:
    """The sum of the tangents of one result."""
    if not parts:
        return Zero(typeof(primal))
    return functools.reduce(lambda x, y: bind("add_any", x, y), parts)


def _constant(value: Any) -> Any:
    """A value by which no derivative is taken; a tracer says so in its program."""
    return bind("stop_gradient", value) if isinstance(value, Tracer) else value


@dataclass(frozen=True, eq=False)
class JvpRule:
    """A user's rule, as a function of leaves."""

    rule: Rule
    others: tuple[Any, ...]
    body: custom_calls.CustomCallBody
    symbolic: bool

    def __call__(
        self, primals: Values, tangents: Tangents
    ) -> tuple[list[Value], list[Tangent]]:
        """The leaves of the results, and their tangents."""
        tree = self.body.in_tree
        given = [
            told(t, typeof(p), self.symbolic)
            for p, t in zip(primals, tangents, strict=True)
        ]
        pair = self.rule(*self.others, tree.unflatten(primals), tree.unflatten(given))
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise rules.error("custom_jvp.pair", got=f"{pair!r:.80} from {self.name}")
        outs, out_tree = flatten.flatten(pair[0])
        tangents_out, tangent_tree = flatten.flatten(pair[1])
        wanted = self.body.out_tree or out_tree
        for what, tree_of in (("result", out_tree), ("tangent", tangent_tree)):
            if tree_of != wanted:
                whose = f"the result of {self.body.name}"
                got = flatten.mismatch(f"the {what}", tree_of, whose, wanted)
                raise rules.error("custom_jvp.tree", got=f"{self.name}: {got}")
        self.body.out_tree = out_tree
        return outs, [
            self.checked(primal, tangent, path)
            for primal, tangent, path in zip(
                outs, tangents_out, out_tree.paths(), strict=True
            )
        ]

    @property
    def name(self) -> str:
        """The name of the rule in errors."""
        return f"the rule {function_name(self.rule)} of {self.body.name}"

    def checked(self, primal: Value, tangent: Tangent, path: Any) -> Tangent:
        """The tangent; TypeError (custom_jvp.types) if the result has another type."""
        aval = typeof(primal)
        found = custom_calls.symbolic(tangent, aval)
        if found is None:
            at = flatten.key_path(path, "result")
            got = f"a tangent {custom_calls.shown(tangent)} of {at}, {aval.str_short()}"
            raise rules.error("custom_jvp.types", got=f"{got}, from {self.name}")
        return found


def jvp_of_call(primals: Values, tangents: Tangents, params: Params) -> JvpResult:
    """The rule in the place of the function."""
    given = dict(params)
    count, program = given["num_consts"], given["call_jaxpr"]
    assert isinstance(count, int) and isinstance(given["jvp"], HostFunction)
    custom_calls.check_captures(tangents, count, given["name"])
    rule = custom_calls.host_rule(given["jvp"], "custom_jvp_call")
    outs, tangents_out = rule(primals[count:], tangents[count:])
    giver = f"the rule of {given['name']}"
    custom_calls.check_results("custom_jvp.types", program, map(typeof, outs), giver)
    return outs, tangents_out


def functions_of_call(given: dict[str, Any]) -> Callable[..., list[Any]]:
    """The rule of a call, as a function of the leaves of primals and of tangents: it
    gives those of the results and of their tangents."""
    rule = custom_calls.host_rule(given["jvp"], "custom_jvp_call")
    count, symbolic = given["num_consts"], given["symbolic_zeros"]

    def jvp(*leaves: Any) -> list[Any]:
        half = len(leaves) // 2
        primals = leaves[count:half]
        tangents = [
            Zero(typeof(p)) if isinstance(t, SymbolicZero) else t
            for p, t in zip(primals, leaves[half + count :], strict=True)
        ]
        outs, found = rule(primals, tangents)
        pairs = zip(outs, found, strict=True)
        return [*outs, *(told(t, typeof(p), symbolic) for p, t in pairs)]

    return jvp


def bind_functions(
    values: Values, subfuns: Sequence[Any], symbolic_zeros: bool = False
) -> list[Value]:
    """Call a function of leaves that has a rule of leaves; see `functions_of_call`."""
    fun, jvp = subfuns
    called = custom_jvp(lambda *xs: list(fun.call_wrapped(*xs)))

    def rule(primals: Values, tangents: Sequence[Any]) -> tuple[Any, Any]:
        found = list(jvp.call_wrapped(*primals, *tangents))
        return found[: len(found) // 2], found[len(found) // 2 :]

    called.defjvp(rule, symbolic_zeros=symbolic_zeros)
    found: list[Value] = called(*values)
    return found


JVP["custom_jvp_call"] = jvp_of_call
WITH_FUNCTIONS["custom_jvp_call"] = bind_functions
