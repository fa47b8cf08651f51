"""Name stacks: scopes and transforms that an equation is recorded in."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from traceir.base.config import local
from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source, user_frame_summary

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class StackName:
    """The name of a scope, or of a transform that a function runs under."""

    name: str
    is_transform: bool = False


@dataclass(frozen=True, slots=True)
class NameStack:
    """The names that an equation stands in, from the outermost.

    >>> stack = NameStack().transform("jvp").extend("encoder").extend("attention")
    >>> str(stack), str(NameStack().transform("vmap").transform("jvp"))
    ('jvp(encoder)/attention', 'vmap(jvp())')
    """

    stack: tuple[StackName, ...] = ()

    def extend(self, name: str) -> NameStack:
        """The stack with one more scope inside."""
        return NameStack((*self.stack, StackName(name)))

    def transform(self, name: str) -> NameStack:
        """The stack with one more transform inside."""
        return NameStack((*self.stack, StackName(name, True)))

    def __add__(self, other: NameStack) -> NameStack:
        return NameStack(self.stack + other.stack)

    def __str__(self) -> str:
        names: list[str] = []
        for part in reversed(self.stack):
            if not part.is_transform:
                names.append(part.name)
            else:
                names[-1:] = [f"{part.name}({''.join(names[-1:])})"]
        return "/".join(reversed(names))


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """The user's line that an equation is from, and the names it stands in."""

    source: Source | None
    name_stack: NameStack

    @property
    def place(self) -> str:
        """The file, the line, the column from 0 and the function; empty for none."""
        source = self.source
        if source is None:
            return ""
        column = (source.column or 1) - 1
        return f"{source.file}:{source.line}:{column} ({source.function})"

    def __str__(self) -> str:
        return user_frame_summary(self.source) if self.source else ""


class under:
    """Inside the `with`, equations stand in one more scope or transform.

    >>> with under("encoder"), under("jvp", True):
    ...     str(current_name_stack())
    'encoder/jvp()'
    """

    __slots__ = ("_part",)

    def __init__(self, name: str, is_transform: bool = False) -> None:
        self._part = StackName(name, is_transform)

    def __enter__(self) -> None:
        local.name_stack = (*local.name_stack, self._part)

    def __exit__(self, *exception: object) -> None:
        local.name_stack = local.name_stack[:-1]

    def __call__(self, function: F) -> F:
        """The function, each call of it within this scope."""

        @wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return cast(F, within)


def current_name_stack() -> NameStack:
    """The names that an equation recorded now would stand in.

    >>> str(current_name_stack())
    ''
    """
    return NameStack(local.name_stack)
