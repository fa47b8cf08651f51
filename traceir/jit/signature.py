"""How arguments meet a signature: one order for positional and keyword passing.

Serves: cache.key.tree, cache.key.static
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from traceir import rules

POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)
UNNAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


@dataclass(frozen=True, slots=True)
class Bound:
    """Arguments after binding: (label, value) pairs, traced and static apart."""

    signature: inspect.Signature
    dynamic: tuple[tuple[str, Any], ...]
    statics: tuple[tuple[str, Any], ...]
    slots: tuple[tuple[str, str, int | str | None], ...]
    # Where each traced argument stood in the call: its position or its keyword.
    origins: tuple[int | str, ...]

    def rebuild(
        self, values: Sequence[Any]
    ) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """Positional and keyword arguments with the traced ones replaced."""
        by_label = dict(self.statics)
        by_label.update(zip((label for label, _ in self.dynamic), values, strict=True))
        arguments: dict[str, Any] = {}
        for label, name, key in self.slots:
            if key is None:
                arguments[name] = by_label[label]
            elif isinstance(key, int):
                arguments[name] = (*arguments.get(name, ()), by_label[label])
            else:
                arguments.setdefault(name, {})[key] = by_label[label]
        bound = inspect.BoundArguments(self.signature, arguments)
        return bound.args, bound.kwargs


@dataclass(frozen=True, slots=True)
class Form:
    """A signature, with what binding plain positional arguments needs to know."""

    signature: inspect.Signature
    names: tuple[str, ...]  # those of positions; none with `*args` or keyword-only
    required: int


def form_of(fun: Callable[..., Any]) -> Form:
    """The form of a callable; that of `*args, **kwargs` when it has no signature."""
    try:
        signature = inspect.signature(fun)
    except (TypeError, ValueError):
        signature = inspect.signature(lambda *args, **kwargs: None)
    parameters = signature.parameters
    plain = all(p.kind in POSITIONAL for p in parameters.values())
    empty = inspect.Parameter.empty
    required = sum(p.default is empty for p in parameters.values())
    return Form(signature, tuple(parameters) if plain else (), required)


def bind_arguments(
    form: Form,
    static: StaticSpec,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Bound:
    """Bind a call; raises TypeError (jit.signature) when it does not fit."""
    signature = form.signature
    if not kwargs and not static and form.required <= len(args) <= len(form.names):
        pairs = tuple(zip(form.names, args))
        plain = tuple((name, name, None) for name, _ in pairs)
        return Bound(signature, pairs, (), plain, tuple(range(len(args))))
    try:
        arguments = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise rules.error("jit.signature", got=str(error)) from None
    dynamic: list[tuple[str, Any]] = []
    statics: list[tuple[str, Any]] = []
    slots: list[tuple[str, str, int | str | None]] = []
    origins: list[int | str] = []
    position = 0
    for name, value in arguments.items():
        parameter = signature.parameters[name]
        for label, key, element in _elements(parameter, name, value):
            slots.append((label, name, key))
            by_keyword = label in kwargs and parameter.kind not in UNNAMED
            index = None if by_keyword else position
            if static.covers(label, index, name):
                statics.append((label, element))
            else:
                dynamic.append((label, element))
                origins.append(label if index is None else index)
            position += 1
    return Bound(
        signature, tuple(dynamic), tuple(statics), tuple(slots), tuple(origins)
    )


def _elements(
    parameter: inspect.Parameter, name: str, value: Any
) -> Iterable[tuple[str, int | str | None, Any]]:
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return [(f"{name}[{k}]", k, v) for k, v in enumerate(value)]
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return [(key, key, value[key]) for key in sorted(value)]
    return [(name, None, value)]


@dataclass(frozen=True, slots=True)
class StaticSpec:
    """Which arguments are static: by name, and by position within `*args`."""

    names: frozenset[str]
    positions: frozenset[int]

    def __bool__(self) -> bool:
        return bool(self.names or self.positions)

    def covers(self, label: str, position: int | None, name: str) -> bool:
        """Whether the argument with this label and position is static."""
        return label in self.names or name in self.names or position in self.positions


def resolve_static(
    signature: inspect.Signature,
    argnums: int | Sequence[int] | None,
    argnames: str | Iterable[str] | None,
) -> StaticSpec:
    """Positions and names of static arguments, each inferred from the other.

    Raises ValueError (jit.static_argnums, jit.static_argnames) for a position or a
    name that the function does not have.
    """
    parameters = list(signature.parameters.values())
    positional = [p.name for p in parameters if p.kind in POSITIONAL]
    variadic = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    names = set(_names(argnames))
    positions: set[int] = set()
    for number in _numbers(argnums):
        index = number + len(positional) if number < 0 else number
        if 0 <= index < len(positional):
            names.add(positional[index])
            positions.add(index)
        elif variadic and index >= 0:
            positions.add(index)
        else:
            raise rules.error(
                "jit.static_argnums",
                got=f"{number}, but the function accepts only "
                f"{len(positional)} positional arguments",
            )
    positions |= {k for k, name in enumerate(positional) if name in names}
    unknown = sorted(names - set(signature.parameters))
    keywords = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    if unknown and not keywords:
        raise rules.error(
            "jit.static_argnames",
            got=f"{', '.join(unknown)}; the arguments are "
            f"{', '.join(signature.parameters) or 'none'}",
        )
    return StaticSpec(frozenset(names), frozenset(positions))


def _numbers(argnums: int | Sequence[int] | None) -> tuple[int, ...]:
    if argnums is None:
        return ()
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if not all(isinstance(n, int) for n in numbers):
        raise rules.error("jit.static_argnums", got=repr(argnums))
    return numbers


def _names(argnames: str | Iterable[str] | None) -> tuple[str, ...]:
    if argnames is None:
        return ()
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames)
    if not all(isinstance(n, str) for n in names):
        raise rules.error("jit.static_argnames", got=repr(argnames))
    return names
