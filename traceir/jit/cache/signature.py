"""Arguments bound to a signature: positional and keyword alike.

Serves: cache.key.tree, cache.key.static
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from traceir import rules
from traceir.base.fast_dataclass import dataclass

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
    # Arguments that are known in this call though they are not static, and where each
    # stood.
    known: tuple[tuple[str, Any], ...] = ()
    known_origins: tuple[int | str, ...] = ()

    def knowing(self, labels: Collection[str]) -> Bound:
        """The same arguments, of which these are known, too."""
        every = list(zip(self.dynamic, self.origins, strict=True))
        traced = [one for one in every if one[0][0] not in labels]
        known = [one for one in every if one[0][0] in labels]
        return replace(
            self,
            dynamic=tuple(pair for pair, _ in traced),
            origins=tuple(origin for _, origin in traced),
            known=(*self.known, *(pair for pair, _ in known)),
            known_origins=(*self.known_origins, *(origin for _, origin in known)),
        )

    def rebuild(
        self, values: Sequence[Any]
    ) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """Positional and keyword arguments with the traced ones replaced."""
        by_label = dict((*self.statics, *self.known))
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


class OfWrapped:
    """The `__signature__` of a compiled function: that of the function under it."""

    def __get__(self, instance: Any, owner: type | None = None) -> inspect.Signature:
        if instance is None:  # of the class it is that of its constructor
            raise AttributeError("__signature__")
        return inspect.signature(instance.__wrapped__)


def check_callable(fun: Any) -> None:
    """Raise TypeError (jit.callable) unless it is a function that returns."""
    if not callable(fun):
        raise rules.error("jit.callable", got=repr(fun))
    if inspect.isgeneratorfunction(fun) or inspect.iscoroutinefunction(fun):
        got = f"a generator or coroutine, {fun!r}"
        hint = "return a list of the values in place of yielding them"
        raise rules.error("jit.callable", got=got, hint=hint)


@dataclass(frozen=True, slots=True)
class SignatureForm:
    """A signature, with the data to bind plain positional arguments."""

    signature: inspect.Signature
    names: tuple[str, ...]  # those of positions; none with `*args` or keyword-only
    required: int
    # What a function takes that shows the signature of another, which it wraps.
    own: inspect.Signature | None = None


def form_of(fun: Callable[..., Any]) -> SignatureForm:
    """The form of a callable; that of `*args, **kwargs` when it has no signature.

    >>> from functools import wraps
    >>> form_of(wraps(lambda x, y: x)(lambda *args: args)).own
    <Signature (*args)>
    """
    try:
        signature = inspect.signature(fun)
    except (TypeError, ValueError):
        signature = inspect.signature(lambda *args, **kwargs: None)
    parameters = signature.parameters
    plain = all(p.kind in POSITIONAL for p in parameters.values())
    empty = inspect.Parameter.empty
    required = sum(p.default is empty for p in parameters.values())
    names = tuple(parameters) if plain else ()
    return SignatureForm(signature, names, required, _own(fun, signature))


def _own(fun: Callable[..., Any], shown: inspect.Signature) -> inspect.Signature | None:
    """The signature of a function that wraps another, where that has another one."""
    if not (hasattr(fun, "__wrapped__") or type(fun) is partial):
        return None
    try:
        found = inspect.signature(fun, follow_wrapped=False)
    except (TypeError, ValueError):
        return None
    return None if _asks(found) == _asks(shown) else found


def _asks(signature: inspect.Signature) -> list[tuple[Any, ...]]:
    """The parameters of a signature but for defaults: arrays have no equality."""
    empty, asked = inspect.Parameter.empty, signature.parameters.values()
    return [(p.name, p.kind, p.default is empty) for p in asked]


def _takes(signature: inspect.Signature, args: tuple[Any, ...]) -> bool:
    """True if positional arguments are what a signature asks for."""
    try:
        signature.bind(*args)
    except TypeError:
        return False
    return True


def bind_arguments(
    form: SignatureForm,
    static: StaticSpec,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Bound:
    """Bind a call; raises TypeError (jit.signature) when it does not fit.

    A function that wraps another gets its arguments as they were given: by its own
    signature where it is given names, or what the other would not take.
    """
    signature = form.signature
    if not kwargs and not static and form.required <= len(args) <= len(form.names):
        pairs = tuple(zip(form.names, args))
        plain = tuple((name, name, None) for name, _ in pairs)
        return Bound(signature, pairs, (), plain, tuple(range(len(args))))
    try:
        if form.own is not None and (kwargs or not _takes(signature, args)):
            signature = form.own
        arguments = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise rules.error("jit.signature", got=str(error)) from None
    elements = [
        (name, *element)
        for name, value in arguments.items()
        for element in _elements(signature.parameters[name], value)
    ]
    dynamic: list[tuple[str, Any]] = []
    statics: list[tuple[str, Any]] = []
    origins: list[int | str] = []
    for position, (name, label, _, value) in enumerate(elements):
        unnamed = signature.parameters[name].kind in UNNAMED
        index = position if unnamed or label not in kwargs else None
        if static.covers(label, index, name):
            statics.append((label, value))
        else:
            dynamic.append((label, value))
            origins.append(label if index is None else index)
    slots = tuple((label, name, key) for name, label, key, _ in elements)
    return Bound(signature, tuple(dynamic), tuple(statics), slots, tuple(origins))


def _elements(
    parameter: inspect.Parameter, value: Any
) -> Iterable[tuple[str, int | str | None, Any]]:
    """Label, place within the parameter, and value of each argument it takes."""
    name = parameter.name
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return [(f"{name}[{k}]", k, v) for k, v in enumerate(value)]
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return [(key, key, value[key]) for key in sorted(value)]
    return [(name, None, value)]


@dataclass(frozen=True, slots=True)
class StaticSpec:
    """The static arguments: by name, and by position within `*args`."""

    names: frozenset[str]
    positions: frozenset[int]

    def __bool__(self) -> bool:
        return bool(self.names or self.positions)

    def extended(self, origins: Sequence[int | str]) -> StaticSpec:
        """These, and the arguments at some places of a call."""
        names = self.names.union(o for o in origins if isinstance(o, str))
        places = self.positions.union(o for o in origins if isinstance(o, int))
        return StaticSpec(names, places) if origins else self

    def covers(self, label: str, position: int | None, name: str) -> bool:
        """True if the argument with this label and position is static."""
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
    parameters = signature.parameters
    kinds = {p.kind for p in parameters.values()}
    positional = [name for name, p in parameters.items() if p.kind in POSITIONAL]
    variadic = inspect.Parameter.VAR_POSITIONAL in kinds
    names, count = set(_names(argnames)), len(positional)
    positions = {_position(n, count, variadic) for n in _numbers(argnums)}
    names |= {name for k, name in enumerate(positional) if k in positions}
    positions |= {k for k, name in enumerate(positional) if name in names}
    unknown = sorted(names - set(parameters))
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        known = ", ".join(parameters) or "none"
        got = f"{', '.join(unknown)}; the arguments are {known}"
        raise rules.error("jit.static_argnames", got=got)
    return StaticSpec(frozenset(names), frozenset(positions))


def _position(number: int, count: int, variadic: bool) -> int:
    """The position that a number stands for; negative ones count from the end."""
    index = number + count if number < 0 else number
    if index < 0 or (index >= count and not variadic):
        got = f"{number}, but the function accepts only {count} positional arguments"
        raise rules.error("jit.static_argnums", got=got)
    return index


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


def argument_hint(error: rules.TraceirError, path: str) -> str:
    """The hint of an error about an argument that is no array, which may be static."""
    if error.hint != rules.default().clauses["jit.argument"].hint:
        return error.hint
    if path == "self":
        return (
            "jit the method of an object, `jit(model.method)`, or decorate it with "
            "static_argnums=0: the object is then as it is when the method is traced"
        )
    name = path.partition("[")[0].partition(".")[0]
    return f"make the argument static with `static_argnames=[{name!r}]`"
