"""Policies of `checkpoint`: which results reverse mode saves.

A policy is a function of an equation: it gets the primitive, the types of the operands
and the params by name, and returns True (or `Saveable`, or an `Offloadable`) where the
results of the equation are to be saved, False (or `Recompute`) where they are to be
computed again. An equation has those that are made here as a text, an expression.

Serves: checkpoint.saved, checkpoint.policy
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from traceir.base.tracebacks import entry_point

Answer: TypeAlias = Any
Policy: TypeAlias = Callable[..., Answer]

# The primitives that multiply matrices or windows.
_DOTS: Final = frozenset({"conv_general_dilated", "dot_general"})


class SaveableType:
    """The type of `Saveable`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Saveable"


class RecomputeType:
    """The type of `Recompute`."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "Recompute"


class Offloadable(NamedTuple):
    """The answer that results are to be saved in another memory.

    There is one kind of memory, the host's, so they are saved in it.
    """

    src: str
    dst: str


# What a policy may answer beside True and False.
Saveable: Final = SaveableType()
Recompute: Final = RecomputeType()


class NamedPolicy:
    """A policy that prints as an expression, and is equal to one that prints alike."""

    __slots__ = ("_answer", "_text")

    def __init__(self, text: str, answer: Policy) -> None:
        self._text = text
        self._answer = answer

    def __call__(self, prim: str, *avals: Any, **params: Any) -> Answer:
        """The answer for an equation."""
        return self._answer(prim, *avals, **params)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedPolicy) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return self._text

    def __reduce__(self) -> tuple[Any, ...]:
        return read_policy, (self._text,)


def _all(*_: Any, **__: Any) -> Answer:
    return True


def _none(*_: Any, **__: Any) -> Answer:
    return False


def _is_dot(prim: str, *_: Any, **__: Any) -> Answer:
    return prim in _DOTS


def _is_plain_dot(prim: str, *_: Any, **params: Any) -> Answer:
    return prim == "dot_general" and not any(params["dimension_numbers"][1])


everything_saveable: Final = NamedPolicy("everything_saveable", _all)
nothing_saveable: Final = NamedPolicy("nothing_saveable", _none)
dots_saveable: Final = NamedPolicy("dots_saveable", _is_dot)
checkpoint_dots: Final = dots_saveable
dots_with_no_batch_dims_saveable: Final = NamedPolicy(
    "dots_with_no_batch_dims_saveable", _is_plain_dot
)
checkpoint_dots_with_no_batch_dims: Final = dots_with_no_batch_dims_saveable


def _call(name: str, names: Sequence[str]) -> str:
    """The text of a policy of names."""
    return f"{name}({', '.join(map(repr, sorted(set(names))))})"


def save_only_these_names(*names_which_can_be_saved: str) -> NamedPolicy:
    """The policy by which values that have one of these names are saved.

    >>> save_only_these_names("a", "b")
    save_only_these_names('a', 'b')
    """
    saved = frozenset(names_which_can_be_saved)

    def answer(prim: str, *_: Any, **params: Any) -> Answer:
        return prim == "name" and params["name"] in saved

    return NamedPolicy(_call("save_only_these_names", [*saved]), answer)


def save_any_names_but_these(*names_not_to_save: str) -> NamedPolicy:
    """The policy by which values are saved that have a name, and none of these."""
    others = frozenset(names_not_to_save)

    def answer(prim: str, *_: Any, **params: Any) -> Answer:
        return prim == "name" and params["name"] not in others

    return NamedPolicy(_call("save_any_names_but_these", [*others]), answer)


def save_anything_except_these_names(*names_not_to_save: str) -> NamedPolicy:
    """The policy by which all values are saved but those with one of these names.

    What a name is given to is saved still: name what it is computed from, too.
    """
    others = frozenset(names_not_to_save)

    def answer(prim: str, *_: Any, **params: Any) -> Answer:
        return prim != "name" or params["name"] not in others

    return NamedPolicy(_call("save_anything_except_these_names", [*others]), answer)


def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> NamedPolicy:
    """The policy by which is saved what one of two policies saves."""

    def answer(prim: str, *avals: Any, **params: Any) -> Answer:
        return policy_1(prim, *avals, **params) or policy_2(prim, *avals, **params)

    parts = ", ".join(map(policy_text, (policy_1, policy_2)))
    return NamedPolicy(f"save_from_both_policies({parts})", answer)


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> NamedPolicy:
    """As `dots_with_no_batch_dims_saveable`; see `Offloadable`."""
    answered = Offloadable(offload_src, offload_dst)

    def answer(prim: str, *avals: Any, **params: Any) -> Answer:
        return answered if _is_plain_dot(prim, *avals, **params) else Recompute

    text = f"offload_dot_with_no_batch_dims({offload_src!r}, {offload_dst!r})"
    return NamedPolicy(text, answer)


@entry_point
def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Sequence[str],
    names_which_can_be_offloaded: Sequence[str],
    offload_src: str,
    offload_dst: str,
) -> NamedPolicy:
    """As `save_only_these_names` of all of them; see `Offloadable`.

    Raises ValueError (checkpoint.names) for a name that stands in both lists.
    """
    saved = frozenset(names_which_can_be_saved)
    moved = frozenset(names_which_can_be_offloaded)
    if both := saved & moved:
        from traceir import rules

        raise rules.error("checkpoint.names", got=repr(sorted(both)))
    answered = Offloadable(offload_src, offload_dst)

    def answer(prim: str, *_: Any, **params: Any) -> Answer:
        name = params["name"] if prim == "name" else None
        return answered if name in moved else Saveable if name in saved else Recompute

    given = {
        "names_which_can_be_saved": sorted(saved),
        "names_which_can_be_offloaded": sorted(moved),
        "offload_src": offload_src,
        "offload_dst": offload_dst,
    }
    parts = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return NamedPolicy(f"save_and_offload_only_these_names({parts})", answer)


__all__ = [
    "checkpoint_dots",
    "checkpoint_dots_with_no_batch_dims",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
    "everything_saveable",
    "nothing_saveable",
    "offload_dot_with_no_batch_dims",
    "save_and_offload_only_these_names",
    "save_any_names_but_these",
    "save_anything_except_these_names",
    "save_from_both_policies",
    "save_only_these_names",
]


class HostPolicy(str):
    """A function of somebody's own, in the params of an equation: as text, its name."""

    __slots__ = ("function",)
    function: Policy

    def __new__(cls, function: Policy) -> HostPolicy:
        """The text of a function."""
        name = getattr(function, "__name__", type(function).__name__)
        made = str.__new__(cls, f"<policy {name}>")
        made.function = function
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HostPolicy) and self.function == other.function

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.function)

    def __reduce__(self) -> tuple[Any, ...]:
        return HostPolicy, (self.function,)


def policy_text(policy: Policy) -> str:
    """A policy as equations have it: an expression, or what stands for a function.

    >>> policy_text(dots_saveable), policy_text(max)
    ('dots_saveable', '<policy max>')
    """
    return str(policy) if isinstance(policy, NamedPolicy) else HostPolicy(policy)


def policy_of(text: str) -> Policy | None:
    """The policy that an equation has; None for a function that is not at hand.

    >>> policy_of(policy_text(max)) is max, policy_of("<policy max>")
    (True, None)
    """
    return text.function if isinstance(text, HostPolicy) else read_policy(text)


def read_policy(text: str) -> NamedPolicy | None:
    """The policy that a text stands for, None for a function of somebody's own.

    >>> read_policy("save_only_these_names('b', 'a')")
    save_only_these_names('a', 'b')
    """
    try:
        found: NamedPolicy = _made(ast.parse(text, mode="eval").body)
    except (KeyError, SyntaxError, TypeError, ValueError):
        return None
    return found


def _made(node: ast.expr) -> Any:
    """The policy of an expression: a name of this module, or a call of one."""
    match node:
        case ast.Name(id=name) if name in __all__:
            return globals()[name]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=named):
            given = {str(k.arg): ast.literal_eval(k.value) for k in named}
            if name in __all__:
                return globals()[name](*map(_argument, args), **given)
    raise ValueError(ast.dump(node))


def _argument(node: ast.expr) -> Any:
    return node.value if isinstance(node, ast.Constant) else _made(node)
