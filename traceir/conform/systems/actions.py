"""Actions of host functions that are no primitives: index, leak, raise.

Serves: level.concretize.*, array.*, index.*, update.*
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from traceir.base.python_parser import parse_module
from traceir.errors import TraceirError
from traceir.rules import Rules


class ActionHost(Protocol):
    """The part of a host that actions reach: functions, leaked values, notes."""

    functions: dict[str, Callable[..., Any]]
    leaked: list[Any]
    notes: list[Any]
    apply: Callable[..., Any]
    compiled: Callable[[str], Callable[..., Any]]
    evaluated: Callable[[], AbstractContextManager[None]]
    level: Callable[[Any], int]
    clear: Callable[[str], None]


class HostError(TraceirError, ArithmeticError):
    """The exception of `host_raise`; sessions expect it as `raises host`."""

    rule = "host"


def _leak(host: ActionHost, *values: Any) -> Any:
    host.leaked.extend(values)
    return values[0]


def _raise(host: ActionHost, value: Any) -> None:
    if value:
        raise HostError("raised by the host function")


def _compiled(host: ActionHost, *args: Any, function: str) -> Any:
    return host.compiled(function)(*args)(*args)


def _clear(host: ActionHost, *, function: str) -> None:
    host.clear(function)


def _evaluated(host: ActionHost, *, function: str) -> Any:
    with host.evaluated():
        return host.functions[function]()


def _set_item(host: ActionHost, x: Any, y: Any, index: Any) -> Any:
    x[index] = y
    return x


def _update(x: Any, *y: Any, index: Any, method: str = "set", **options: Any) -> Any:
    return getattr(x.at[index], method)(*y, **options)


def _method(x: Any, *args: Any, name: str, **options: Any) -> Any:
    given = options.pop("args", ())
    return getattr(x, name)(*args, *given, **options)


def _call(host: ActionHost, f: Callable[..., Any], *args: Any, **params: Any) -> Any:
    return f(*args, **params)


def _close(host: ActionHost, f: Callable[..., Any], *values: Any) -> Callable[..., Any]:
    return lambda *args: f(*values, *args)


def _note(host: ActionHost, *values: Any) -> None:
    host.notes.extend(np.asarray(v).tolist() for v in values)


def _applied(function: Callable[..., Any]) -> Callable[..., Any]:
    """An action on arrays as such, which an implementation may run in its own way."""

    def action(host: ActionHost, *args: Any, **params: Any) -> Any:
        return host.apply(function, *args, **params)

    return action


def asked(rules: Rules, name: str) -> Callable[[Any], Any] | None:
    """The action that asks a value what a row of the levels says, by the row's code.

    >>> from traceir.rules import default
    >>> asked(default(), "host_len")([5, 6])
    2
    """
    found = [ask.code for ask in rules.levels.asks.values() if ask.action == name]
    return eval(f"lambda x: {found[0]}", _NAMES.copy()) if found else None


# The names that the code of a question may have.
_NAMES = {"numpy": np, "operator": operator}
# By the name that cases use; questions are in `levels.toml`. Operands come by position,
# params by name.
ACTIONS: Mapping[str, Callable[..., Any]] = {
    "host_int": lambda host, x: int(x),
    "host_level": lambda host, x: host.level(x),
    "host_leak": _leak,
    "host_leaked": lambda host: host.leaked[-1],
    "host_raise": _raise,
    "host_call": _call,
    "host_close": _close,
    "host_note": _note,
    "host_tuple": lambda host, *values: values,
    "host_compiled": _compiled,
    "host_clear": _clear,
    "host_compile_time": _evaluated,
    "host_getitem": _applied(lambda x, index: x[index]),
    "host_setitem": _set_item,
    "host_update": _applied(_update),
    "host_method": _applied(_method),
    "host_property": _applied(lambda x, name: getattr(x, name)),
}


def index_of(text: str, env: Mapping[str, Any]) -> Any:
    """The index that Python would make of `x[text]`, names being those of `env`.

    >>> index_of("1:, None, ..., n", {"n": 2})
    (slice(1, None, None), None, Ellipsis, 2)
    """
    (statement,) = parse_module(f"_[{text}]").body
    assert isinstance(statement, ast.Expr) and isinstance(
        statement.value, ast.Subscript
    )
    return _index(statement.value.slice, env)


def _index(node: ast.expr | None, env: Mapping[str, Any]) -> Any:
    match node:
        case None:
            return None
        case ast.Constant():
            return node.value
        case ast.Name():
            return env[node.id]
        case ast.UnaryOp(op=ast.USub()):
            return -_index(node.operand, env)
        case ast.Slice():
            parts = (node.lower, node.upper, node.step)
            return slice(*(_index(part, env) for part in parts))
        case ast.Tuple():
            return tuple(_index(part, env) for part in node.elts)
        case ast.List():
            return [_index(part, env) for part in node.elts]
    raise ValueError(f"no index: {ast.unparse(node)}")


def names_of(text: str) -> Iterator[str]:
    """The names that occur in the text of an index."""
    for node in ast.walk(parse_module(f"_[{text}]")):
        if isinstance(node, ast.Name) and node.id != "_":
            yield node.id
