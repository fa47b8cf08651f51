"""Params about the devices of a mesh: meshes, specs, sets of names.

Serves: text.syntax
"""

from __future__ import annotations

from typing import Any

from traceir.text.cursor import Cursor
from traceir.text.syntax import ListNode, NumberNode, Value, WordNode

# What follows the axes of a mesh that a function has a part of already.
_REST = "device_kind=cpu, num_cores=None, platform=cpu"


def mesh_text(axes: Any, exact: bool) -> str:
    """The text of a mesh's axes; what has manual ones is no mesh of devices.

    >>> mesh_text((("x", 4, "Auto"), ("y", 2, "Explicit")), False)
    "Mesh('x': 4, 'y': 2, axis_types=(Auto, Explicit))"
    """
    kinds = [kind for _, _, kind in axes]
    ends = "," if len(kinds) == 1 else ""
    parts = [f"{name!r}: {size}" for name, size, _ in axes]
    parts += [f"axis_types=({', '.join(kinds)}{ends})"] if kinds else []
    if "Manual" in kinds:
        return f"AbstractMesh({', '.join([*parts, _REST])})"
    return f"Mesh({', '.join(parts)})"


def specs_text(specs: Any, exact: bool) -> str:
    """The text of some specs.

    >>> specs_text(((("x",), ()), ((), ("x", "y")), ()), False)
    "(P('x', None), P(None, ('x', 'y')), P())"
    """
    texts = [f"P{tuple(map(_entry, spec))!r}" for spec in specs]
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


def _entry(axes: tuple[Any, ...]) -> Any:
    return axes if len(axes) > 1 else axes[0] if axes else None


def names_text(names: Any, exact: bool) -> str:
    """The text of a set of names, in their order.

    >>> names_text(("x", "y"), False), names_text((), False)
    ("frozenset({'x', 'y'})", 'frozenset()')
    """
    inner = ", ".join(map(repr, names))
    return f"frozenset({{{inner}}})" if names else "frozenset()"


def read_mesh(cursor: Cursor, at: int) -> ListNode:
    """The rest of `Mesh('x': 4, axis_types=(Auto,))`: each axis with its kind."""
    cursor.expect("(")
    pairs: list[tuple[Value, Value]] = []
    while not cursor.has(")") and not cursor.has("axis_types"):
        name = _name(cursor)
        cursor.expect(":")
        size = cursor.take()
        pairs.append((name, NumberNode(size.text, None, size.at)))
        cursor.accept(",")
    kinds: list[WordNode] = []
    if cursor.accept("axis_types"):
        cursor.expect("=")
        cursor.expect("(")
        kinds = cursor.separated(")", lambda: _word(cursor))
        while cursor.accept(","):
            cursor.name("what is known of the devices")
            cursor.expect("=")
            cursor.take()
    cursor.expect(")")
    if len(kinds) != len(pairs):
        raise cursor.fail("a type for each axis")
    rows = zip(pairs, kinds, strict=True)
    return ListNode(tuple(ListNode((*pair, kind), at) for pair, kind in rows), at)


def read_spec(cursor: Cursor, at: int) -> ListNode:
    """The rest of `P('x', None)`: the names of the axes of each dimension."""
    cursor.expect("(")
    return ListNode(tuple(cursor.separated(")", lambda: _axes(cursor))), at)


def read_names(cursor: Cursor, at: int) -> ListNode:
    """The rest of `frozenset({'x'})`."""
    cursor.expect("(")
    names: list[WordNode] = []
    if cursor.accept("{"):
        names = cursor.separated("}", lambda: _name(cursor))
    cursor.expect(")")
    return ListNode(tuple(names), at)


def _axes(cursor: Cursor) -> ListNode:
    at = cursor.peek().at
    if cursor.accept("None"):
        return ListNode((), at)
    if cursor.accept("("):
        return ListNode(tuple(cursor.separated(")", lambda: _name(cursor))), at)
    return ListNode((_name(cursor),), at)


def _name(cursor: Cursor) -> WordNode:
    token = cursor.take()
    if token.kind != "string":
        raise cursor.fail("the name of an axis", token)
    return WordNode(cursor.unquoted(token), True, token.at)


def _word(cursor: Cursor) -> WordNode:
    token = cursor.name("the type of an axis")
    return WordNode(token.text, False, token.at)


# How what begins with such a word is read.
READ = {
    "AbstractMesh": read_mesh,
    "Mesh": read_mesh,
    "P": read_spec,
    "frozenset": read_names,
}
# How a param of such a domain is written.
WRITE = {"mesh": mesh_text, "name_set": names_text, "specs": specs_text}
