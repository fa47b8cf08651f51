"""Functions of modules that are exported: arguments checked, results put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import indent

from traceir.treedef import TreeDef, key_path
from traceir_numba.ahead.entries import Entry

ARRAY = '''\
def _array(name, value, shape, dtype):
    """An argument as the library takes it; TypeError unless it has the type."""
    if shape == () and type(value) in (bool, int, float, complex):
        value = np.array(value, dtype)
    array = np.asarray(value)
    if array.shape != shape or array.dtype != dtype:
        got, wanted = (
            f"{kind}[{','.join(map(str, extents))}]"
            for kind, extents in ((array.dtype, array.shape), (dtype, shape))
        )
        raise TypeError(f"{name} is {got}, the function was made for {wanted}")
    return np.require(array, requirements="CA")
'''

FUNCTION = '''\
def {name}({parameters}):
    """{about}

{types}

{text}
    """
{body}
'''


def function_text(entry: Entry, lines: Sequence[str]) -> str:
    """The text of a function; `lines` make `made_0`, ... of `given_0`, ..."""
    rows = [f"{a.path}: {a.type}" for a in (*entry.inputs, *entry.outputs)]
    text = entry.text.replace("\\", "\\\\").replace('"""', "'''")
    end = f"return {_tree(entry.out_tree, iter(result_names(entry)))}"
    body = [*_given(entry), *lines, end]
    return FUNCTION.format(
        name=entry.name,
        parameters=", ".join(entry.parameters),
        about=f"{entry.signature}, for arrays of these types.",
        types=indent("\n".join(rows) or "no arrays", "    "),
        text=indent(text, "    "),
        body=indent("\n".join(body), "    "),
    )


def result_names(entry: Entry) -> list[str]:
    """The variables of an entry's results."""
    return [f"made_{k}" for k in range(len(entry.outputs))]


def _given(entry: Entry) -> Iterator[str]:
    """The lines that check arguments."""
    places = [
        key_path(path, parameter)
        for parameter, tree in zip(entry.parameters, entry.in_tree.below, strict=True)
        for path in tree.paths()
    ]
    for k, (one, place) in enumerate(zip(entry.inputs, places, strict=True)):
        type_ = f"{one.shape}, np.dtype({one.dtype!r})"
        yield f"given_{k} = _array({_quoted(one.path)}, {place}, {type_})"


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
