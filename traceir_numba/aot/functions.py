"""Python functions of exported modules: they check arguments.

Serves: artefact.name
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from symtable import SymbolTable, symtable
from textwrap import indent

from traceir import rules
from traceir.pytrees.treedef import TreeDef, key_path
from traceir_numba.aot.entries import AotFunction

ARRAY = '''\
def _array(name, value, shape, dtype):
    """An argument as the library takes it; TypeError unless it has the type."""
    kinds = {bool: "biufVc", int: "iufVc", float: "fVc", complex: "c"}
    if shape == () and dtype.kind in kinds.get(type(value), ""):
        try:
            value = np.array(value, dtype)
        except OverflowError:
            raise OverflowError(f"{name} is {value}, too large for {dtype}") from None
    if type(value).__name__ == "MaskedArray":
        raise TypeError(f"{name} has a mask, which the function does not take")
    array = np.asarray(value)
    if array.shape != shape or array.dtype != dtype:
        got, wanted = (
            f"{kind}[{','.join(map(str, extents))}]"
            for kind, extents in ((array.dtype, array.shape), (dtype, shape))
        )
        raise TypeError(f"{name} is {got}, the function was made for {wanted}")
    return np.require(array, requirements="CA")
'''

# For functions that take containers.
TREE = '''\
def _container(value):
    """A container in words, the same for those that are alike."""
    kind = type(value).__name__
    if isinstance(value, dict):
        return f"{kind} of {', '.join(sorted(map(repr, value))) or 'nothing'}"
    return f"{kind} of {len(value)}" if isinstance(value, (tuple, list)) else kind


def _check(name, value, like):
    """Raise TypeError for containers that are not as these, which have ... in them."""
    if like is ...:
        return
    got, wanted = _container(value), _container(like)
    if got != wanted:
        raise TypeError(f"{name} is {got}, the function was made for {wanted}")
    for key in like if isinstance(like, dict) else range(len(like or ())):
        _check(f"{name}[{key!r}]", value[key], like[key])
'''

# For functions that write to arguments.
TARGET = '''\
def _writable(name, value, others):
    """Raise unless an argument can be written to: TypeError, ValueError."""
    if not isinstance(value, np.ndarray):
        kind = type(value).__name__
        raise TypeError(f"{name} is written to, and is a {kind}, not an array of NumPy")
    if not value.flags.writeable:
        raise ValueError(f"{name} is written to, and is read-only")
    if any(isinstance(x, np.ndarray) and np.shares_memory(value, x) for x in others):
        raise ValueError(f"{name} is written to, and shares memory with an argument")
'''

FUNCTION = '''\
def {name}({parameters}):
    """{about}

{types}

{text}
    """
{body}
'''


def check_apart(text: str, entries: Iterable[AotFunction]) -> None:
    """Raise ValueError (artefact.name) for functions of names that a module uses.

    `text` is what comes before them: what it has, and what of Python it calls.
    """

    def names(table: SymbolTable) -> Iterator[str]:
        yield from (
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_global() or table.get_type() == "module"
        )
        for inner in table.get_children():
            yield from names(inner)

    taken = set(names(symtable(text, "module", "exec")))
    for entry in entries:
        if entry.name in taken:
            got = f"{entry.name!r}, which the module has for itself"
            raise rules.error("artefact.name", got=got, where="")


def helpers(entries: Sequence[AotFunction]) -> list[str]:
    """The texts of the helpers that functions call."""
    nested = any(tree.kind for entry in entries for tree in entry.in_tree.below)
    writes = any(entry.written for entry in entries)
    needed = (ARRAY, True), (TREE, nested), (TARGET, writes)
    return [text.strip() for text, used in needed if used]


def function_text(entry: AotFunction, lines: Sequence[str], news: Sequence[str]) -> str:
    """The text of a function; `lines` make `made_0`, ... of `given_0`, ...

    `news` are the variables of what is written to arguments.
    """
    rows = [
        f"{a.path}: {a.type}{', written to' if k in entry.written else ''}"
        for k, a in enumerate((*entry.inputs, *entry.outputs))
    ]
    text = entry.text.replace("\\", "\\\\").replace('"""', "'''")
    # As NumPy does: a scalar where there are no dimensions.
    made = (
        name if one.shape else f"{name}[()]"
        for name, one in zip(result_names(entry), entry.outputs, strict=True)
    )
    end = f"return {_tree(entry.out_tree, made)}"
    places = _places(entry)
    put = [
        f"np.copyto({places[k]}, {new})"
        for k, new in zip(entry.written, news, strict=True)
    ]
    body = [*_given(entry, places), *lines, *put, end]
    return FUNCTION.format(
        name=entry.name,
        parameters=", ".join(entry.parameters),
        about=f"{entry.signature}, for arrays of these types.",
        types=indent("\n".join(rows) or "no arrays", "    "),
        text=indent(text, "    "),
        body=indent("\n".join(body), "    "),
    )


def result_names(entry: AotFunction) -> list[str]:
    """The variables of an entry's results."""
    return [f"made_{k}" for k in range(len(entry.outputs))]


def _places(entry: AotFunction) -> list[str]:
    """The expressions of the arrays that a call gives."""
    return [
        key_path(path, parameter)
        for parameter, tree in zip(entry.parameters, entry.in_tree.below, strict=True)
        for path in tree.paths()
    ]


def _given(entry: AotFunction, places: Sequence[str]) -> Iterator[str]:
    """The lines that check arguments."""
    for parameter, tree in zip(entry.parameters, entry.in_tree.below, strict=True):
        if tree.kind:
            like = _tree(tree, repeat("..."))
            yield f"_check({_quoted(parameter)}, {parameter}, {like})"
    for k, (one, place) in enumerate(zip(entry.inputs, places, strict=True)):
        type_ = f"{one.shape}, np.dtype({one.dtype!r})"
        yield f"given_{k} = _array({_quoted(one.path)}, {place}, {type_})"
    for k in entry.written:
        others = ", ".join(x for n, x in enumerate(places) if n != k)
        yield f"_writable({_quoted(entry.inputs[k].path)}, {places[k]}, [{others}])"


def _quoted(path: str) -> str:
    text = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _tree(tree: TreeDef, leaves: Iterator[str]) -> str:
    """The expression of a tree of containers."""
    if tree.kind is None:
        return next(leaves)
    parts = [_tree(child, leaves) for child in tree.below]
    if tree.node_type is tuple:
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if tree.node_type is list:
        return f"[{', '.join(parts)}]"
    if tree.node_type is dict:
        pairs = zip(tree.meta, parts, strict=True)
        return f"{{{', '.join(f'{key!r}: {part}' for key, part in pairs)}}}"
    return "None"
