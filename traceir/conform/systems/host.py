"""Host functions made of untyped programs, which a session traces.

Serves: level.*, cache.*

Each equation is executed through the implementation's own `bind`, or calls one of its
own functions of arrays, so that the function is one that its user could have written.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any

from traceir.conform.casefiles.sessions import Function, Session
from traceir.conform.casefiles.values import HostName, TypedValue, host_number
from traceir.conform.judging.run import Unsupported
from traceir.conform.systems.actions import ACTIONS as ACTIONS
from traceir.conform.systems.actions import HostError as HostError
from traceir.conform.systems.actions import asked, index_of, names_of
from traceir.conform.systems.faces import changed
from traceir.conform.systems.objects import function_of_kind, realise
from traceir.conform.systems.transforms import transformed
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.rules import Rules, default
from traceir.text import syntax
from traceir.text.lexer import NUMBER_WORDS
from traceir.text.params import Values
from traceir.text.syntax import (
    EquationNode,
    ListNode,
    NumberNode,
    Operand,
    ParameterNode,
    ProgramNode,
    WordNode,
)
from traceir.text.words import number_value

Bind = Callable[..., Any]
# The values of a function, by name.
Env = Mapping[str, Any]
# What the params of a transform are read in: no names but those of functions.
_NOTHING = ProgramNode((), (), (), (), 0)


def _call(function: Callable[..., Any], *args: Any, **params: Any) -> Any:
    return function(*args, **params)


def shown_level(value: Any) -> int:
    """The level that a tracer shows when it is printed, 0 for a value of no trace.

    >>> shown_level("Traced<ShapedArray(float32[])>with<DynamicJaxprTrace(level=2/0)>")
    2
    """
    found = re.search(r"level=(\d+)", repr(value))
    return int(found[1]) if found else 0


def _no_stages(function: str) -> Callable[..., Any]:
    raise TypeError(f"{function} is not compiled ahead of time here")


def _no_cache(function: str) -> None:
    raise TypeError(f"{function} keeps no traces here")


def _raising(error: Exception) -> Callable[..., Any]:
    """A function that raises: the refusal of a transform is the outcome of the call."""

    def call(*_: Any) -> Any:
        raise error

    return call


def _no_programs(program: ClosedJaxpr) -> Callable[..., Any]:
    raise TypeError("programs with types are no functions here")


def _no_jit(fun: Callable[..., Any], *_: Any) -> Callable[..., Any]:
    raise TypeError("there is no jit here")


@dataclass
class Host:
    """The things that a host function can reach: `bind`, functions of arrays,
    functions.

    `runs` counts how often a function's Python body ran, which is what a trace costs.
    `scope` has the globals of all functions. `apply` calls a function of arrays, one of
    `namespaces` or of Python; `evaluated` has the `with` in which operations are
    evaluated at once, `compiled` a function compiled for what it is called
    with; `clear` makes one forget its traces. `array` makes an array of the
    implementation, `level` tells the level of a traced value. `typed` makes a function
    of a program with types, `jit` is that of a chain of transforms. `plain` has the
    functions of the case as they are, `notes` what they wrote down.
    """

    bind: Bind
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    leaked: list[Any] = field(default_factory=list)
    runs: int = 0
    rules: Rules = field(default_factory=default)
    namespaces: Mapping[str, Any] = field(default_factory=dict)
    apply: Callable[..., Any] = _call
    compiled: Callable[[str], Callable[..., Any]] = _no_stages
    evaluated: Callable[[], AbstractContextManager[None]] = nullcontext
    level: Callable[[Any], int] = shown_level
    clear: Callable[[str], None] = _no_cache
    array: Callable[[TypedValue], Any] = lambda value: value.array
    typed: Callable[[ClosedJaxpr], Callable[..., Any]] = _no_programs
    jit: Callable[..., Callable[..., Any]] = _no_jit
    plain: dict[str, Callable[..., Any]] = field(default_factory=dict)
    notes: list[Any] = field(default_factory=list)
    scope: dict[str, Any] = field(default_factory=dict)

    def define(self, session: Session) -> dict[str, Any]:
        """Everything that the session's `given` define, by name; not yet jitted."""
        for name, value in session.objects.items():
            self.scope[name] = realise(value, self.array)
        found = {name: self.scope[name] for name in session.objects}
        for name, function in session.functions.items():
            closed = function.closed
            if closed is not None:
                found[name] = self.typed(closed)
            elif function.program is not None:
                found[name] = host_function(function, function.program, self)
            elif function.same_as is not None:
                found[name] = self._made(function, found[function.same_as])
            self.plain[name] = found[name]
        return found

    def _made(self, function: Function, inner: Any) -> Any:
        """A function made of another: of another kind, or a transform."""
        if not function.transforms:
            return function_of_kind(function, inner)
        names = _HostRun(function, _NOTHING, self)
        for transform in function.transforms[::-1]:
            read = EquationNode((), transform.name, (), transform.params, (), 0)
            params = {p.name: names.param(self.plain, read, p) for p in read.params}
            try:
                inner = self._transformed(transform.name, inner, params)
            except Unsupported:
                raise
            except Exception as error:
                return _raising(error)
        return inner

    def _transformed(
        self, name: str, inner: Callable[..., Any], params: Mapping[str, Any]
    ) -> Callable[..., Any]:
        if name == "jit":
            return self.jit(inner, (), params)
        return transformed(self.namespaces["api"], name, inner, params)

    def argument(self, value: Any) -> Any:
        """The argument that a case writes, as the host passes it."""

        def leaf(value: Any) -> Any:
            match value:
                case TypedValue():
                    return self.array(value)
                case HostName(name):
                    return self.scope[name]
            return value

        return changed(value, leaf)

    def change(self, name: str, args: tuple[Any, ...]) -> bool:
        """Do `set('c', 3)`, `fill('c', 3)` or `mutate('o', 3)`; False for others."""
        match name, args:
            case "set", (str() as target, value):
                self.scope[target] = realise(value, self.array)
            case "fill", (str() as target, value):
                self.scope[target].fill(value)
            case "mutate", (str() as target, value):
                self.scope[target].number = value
            case _:
                return False
        return True

    def function(self, name: str) -> Callable[..., Any] | None:
        """A function of one of the namespaces by its dotted name, or None."""
        first, _, rest = name.partition(".")
        space = {"operator": operator, **self.namespaces}.get(first)
        if not rest or space is None:
            return None
        found: Callable[..., Any] = operator.attrgetter(rest)(space)
        return found


def host_function(function: Function, program: ProgramNode, host: Host) -> Any:
    """A Python function of the program's parameters that binds its equations.

    Names that are no variables of the program are its globals.

    >>> from traceir.conform.casefiles.sessions import SessionReader
    >>> from traceir.text.lexer import SourceText
    >>> text = "f = { lambda ; x n. let y = mul x n in (y,) }"
    >>> _, read = SessionReader(SourceText(text)).given()
    >>> f = host_function(read, read.program, Host(lambda prim, a, b: (prim, a, b)))
    >>> f(2, n=3)
    ('mul', 2, 3)
    """
    names = [b.name for b in program.inputs]
    for binder in program.inputs:
        if iskeyword(binder.name):
            got = f"the parameter `{binder.name}`, a keyword of Python"
            raise function.source.error("text.syntax", got, binder.at)
    used = {n for n in _used(program) if n in host.scope} - {*names}
    read = ", ".join(f"{name!r}: {name}" for name in sorted(used))
    run = f"run_{function.name}"
    host.scope[run] = _HostRun(function, program, host).run
    # Compiled, so that its signature and its globals are those of any function.
    body = f"return {run}(locals(), {{{read}}})"
    scope: dict[str, Any] = {}
    code = f"def {function.name}({', '.join(names)}): {body}"
    exec(code, host.scope, scope)
    return scope[function.name]


def _used(program: ProgramNode) -> Iterator[str]:
    """The names that operands, params and results of a program mention."""
    for operand in (
        *program.results,
        *(a for e in program.equations for a in e.inputs),
    ):
        yield operand.text
    for equation in program.equations:
        for param in equation.params:
            yield from _words(param.value, param.name == "index")


def _words(value: syntax.Value, index: bool) -> Iterator[str]:
    match value:
        case ListNode(items):
            for item in items:
                yield from _words(item, index)
        case WordNode(text, quoted=True) if index:
            yield from names_of(text)
        case WordNode(text, quoted=False):
            yield text


class _HostRun:
    def __init__(self, function: Function, program: ProgramNode, host: Host) -> None:
        self.source = function.source
        self.program = program
        self.host = host

    def run(self, given: Mapping[str, Any], used: Mapping[str, Any]) -> Any:
        self.host.runs += 1
        env = {**used, **given}
        for equation in self.program.equations:
            found = self.equation(env, equation)
            outputs = [b.name for b in equation.outputs]
            if outputs:  # an action without results may still return something
                env.update(zip(outputs, [found] if len(outputs) == 1 else found))
        results = tuple(self.operand(env, a) for a in self.program.results)
        return results[0] if len(results) == 1 else results

    def equation(self, env: Env, equation: EquationNode) -> Any:
        name = equation.primitive
        args = [self.operand(env, a) for a in equation.inputs]
        params = {p.name: self.param(env, equation, p) for p in equation.params}
        question = asked(self.host.rules, name)
        if question is not None:
            return question(*args)
        if name in ACTIONS:
            return ACTIONS[name](self.host, *args, **params)
        if name in env:  # a function that an equation before made
            return env[name](*args, **params)
        if name in self.host.functions:
            return self.host.functions[name](*args, **params)
        function = self.host.function(name)
        if function is not None:
            return self.host.apply(function, *args, **params)
        return self.host.bind(name, *args, **params)

    def operand(self, env: Env, operand: Operand) -> Any:
        if isinstance(operand, NumberNode):
            if operand.aval is None:
                return host_number(operand.text)
            dtype = operand.aval.dtype
            return dtype.type(number_value(operand.text, dtype))
        if operand.text in env:
            return env[operand.text]
        if operand.text in NUMBER_WORDS:
            return host_number(operand.text)
        if operand.text in self.host.plain:
            return self.host.plain[operand.text]
        if operand.text == "None":
            return None
        got = f"`{operand.text}`, which nothing defines"
        raise self.source.error("text.syntax", got, operand.at)

    def param(self, env: Env, eqn: EquationNode, param: ParameterNode) -> Any:
        row = self.host.rules.prims.get(eqn.primitive)
        domains = {p.name: p.domain for p in row.params} if row else {}
        values = Values(self.source, self.host.rules, _no_program, _no_name, ())
        match param:
            case ParameterNode("index", WordNode(text, True)):
                return index_of(text, env)
        if eqn.primitive not in ACTIONS:  # these ask for the name of a function
            env = {**self.host.plain, **env}
        return self.value(env, values, param.value, domains.get(param.name, "any"))

    def value(self, env: Env, values: Values, value: syntax.Value, domain: str) -> Any:
        # A word that names a variable of the host function stands for its value.
        if isinstance(value, ListNode):
            items = (self.value(env, values, v, domain) for v in value.items)
            return list(items) if value.bracketed and domain == "any" else tuple(items)
        if isinstance(value, WordNode) and not value.quoted and value.text in env:
            return env[value.text]
        return values.value(value, domain)


def _no_program(program: ProgramNode) -> ClosedJaxpr:
    raise TypeError("a host function calls other functions by name")


def _no_name(name: str, at: int) -> ClosedJaxpr:
    raise TypeError(f"a host function calls other functions by name, not {name!r}")
