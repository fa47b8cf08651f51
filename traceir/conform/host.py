"""Host functions from untyped programs: what a session traces. Serves: level.*, cache.*

Each equation is executed through the implementation's own `bind`, so that the function
is one that the implementation's user could have written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any

import numpy as np

from traceir.conform.sessions import Function
from traceir.conform.values import host_number
from traceir.errors import TraceirError
from traceir.ir import ClosedJaxpr
from traceir.rules import Rules, default
from traceir.text.lexer import NUMBER_WORDS
from traceir.text.params import Values
from traceir.text.syntax import (
    Equation,
    Many,
    Number,
    Operand,
    Parameter,
    Program,
    Value,
    Word,
)
from traceir.text.words import number_value

Bind = Callable[..., Any]


@dataclass
class Host:
    """What a host function can reach: `bind`, the other functions, a place to leak to.

    `runs` counts how often a function's Python body ran, which is what a trace costs.
    """

    bind: Bind
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    leaked: list[Any] = field(default_factory=list)
    runs: int = 0
    rules: Rules = field(default_factory=default)


class HostError(TraceirError, ArithmeticError):
    """What `host_raise` raises; sessions expect it as `raises host`."""

    rule = "host"


def _leak(host: Host, *values: Any) -> Any:
    host.leaked.extend(values)
    return values[0]


def _raise(host: Host, value: Any) -> None:
    if value:
        raise HostError("raised by the host function")


# What a host function does that is no primitive, by the name that cases use.
ACTIONS: Mapping[str, Callable[..., Any]] = {
    "host_bool": lambda host, x: bool(x),
    "host_int": lambda host, x: int(x),
    "host_number": lambda host, x: float(x),
    "host_index": lambda host, x: operator.index(x),
    "host_array": lambda host, x: np.asarray(x),
    "host_attribute": lambda host, x: x.sharding,
    "host_item": lambda host, x: x.item(),
    "host_shape": lambda host, x: x.shape,
    "host_print": lambda host, x: repr(x),
    "host_leak": _leak,
    "host_leaked": lambda host: host.leaked[-1],
    "host_raise": _raise,
}


def host_function(function: Function, program: Program, host: Host) -> Any:
    """A Python function of the program's parameters that binds its equations.

    >>> from traceir.conform.sessions import SessionReader
    >>> from traceir.text.lexer import Source
    >>> text = "f = { lambda ; x n. let y = mul x n in (y,) }"
    >>> read = SessionReader(Source(text)).function()
    >>> f = host_function(read, read.program, Host(lambda prim, a, b: (prim, a, b)))
    >>> f(2, n=3)
    ('mul', 2, 3)
    """
    names = [b.name for b in program.inputs]
    for binder in program.inputs:
        if iskeyword(binder.name):
            got = f"the parameter `{binder.name}`, a keyword of Python"
            raise function.source.error("text.syntax", got, binder.at)
    run = _Run(function, program, host)
    scope: dict[str, Any] = {"run": run}
    # Compiled, so that its signature is found as that of any function is.
    body = f"return run({names!r}, locals())"
    exec(f"def {function.name}({', '.join(names)}): {body}", scope)
    return scope[function.name]


class _Run:
    def __init__(self, function: Function, program: Program, host: Host) -> None:
        self.source = function.source
        self.program = program
        self.host = host

    def __call__(self, names: Sequence[str], given: Mapping[str, Any]) -> Any:
        self.host.runs += 1
        env = {name: given[name] for name in names}
        for equation in self.program.equations:
            found = self.equation(env, equation)
            outputs = [b.name for b in equation.outputs]
            if outputs:  # an action without results may still return something
                env.update(zip(outputs, [found] if len(outputs) == 1 else found))
        results = tuple(self.operand(env, a) for a in self.program.results)
        return results[0] if len(results) == 1 else results

    def equation(self, env: Mapping[str, Any], equation: Equation) -> Any:
        args = [self.operand(env, a) for a in equation.inputs]
        if equation.primitive in ACTIONS:
            return ACTIONS[equation.primitive](self.host, *args)
        if equation.primitive in self.host.functions:
            return self.host.functions[equation.primitive](*args)
        params = {p.name: self.param(env, equation, p) for p in equation.params}
        return self.host.bind(equation.primitive, *args, **params)

    def operand(self, env: Mapping[str, Any], operand: Operand) -> Any:
        if isinstance(operand, Number):
            if operand.aval is None:
                return host_number(operand.text)
            dtype = operand.aval.dtype
            return dtype.type(number_value(operand.text, dtype))
        if operand.text in env:
            return env[operand.text]
        if operand.text in NUMBER_WORDS:
            return host_number(operand.text)
        got = f"`{operand.text}`, which nothing defines"
        raise self.source.error("text.syntax", got, operand.at)

    def param(self, env: Mapping[str, Any], eqn: Equation, param: Parameter) -> Any:
        row = self.host.rules.prims.get(eqn.primitive)
        domains = {p.name: p.domain for p in row.params} if row else {}
        values = Values(self.source, self.host.rules, _no_program, _no_name)
        return self.value(env, values, param.value, domains.get(param.name, "any"))

    def value(
        self, env: Mapping[str, Any], values: Values, value: Value, domain: str
    ) -> Any:
        # A word that names a variable of the host function stands for its value.
        if isinstance(value, Many):
            return tuple(self.value(env, values, v, domain) for v in value.items)
        if isinstance(value, Word) and value.text in env:
            return env[value.text]
        return values.value(value, domain)


def _no_program(program: Program) -> ClosedJaxpr:
    raise TypeError("a host function calls other functions by name")


def _no_name(name: str, at: int) -> ClosedJaxpr:
    raise TypeError(f"a host function calls other functions by name, not {name!r}")
