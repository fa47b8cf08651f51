"""The code object of a function with its constructs rewritten.

Serves: staged.source

The file is parsed as a whole, so that lines, columns and private names of classes are
as they were. Of a function without source there is none; it runs as it is.
"""

from __future__ import annotations
import __future__

import ast
import dis
import functools
import linecache
import operator
from collections.abc import Iterator
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType
from typing import Any

from traceir.face.control_flow.rewriting.rewrite import CHANGING, rewritten
from traceir.face.control_flow.rewriting.syntax import LATER

_FORMATS = ("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC")
_WRITTEN = [dis.opmap[n] for n in ("UNARY_NOT", *_FORMATS) if n in dis.opmap]
_JUMPS = frozenset(dis.hasjrel + dis.hasjabs + _WRITTEN)
_STORES = frozenset(
    dis.opmap[name]
    for name in ("STORE_SUBSCR", "STORE_ATTR", "STORE_GLOBAL", "DELETE_SUBSCR")
)
# Of generators and coroutines.
_SUSPENDED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
# Of the file's `from __future__` imports.
_FUTURE = functools.reduce(
    operator.or_,
    (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names),
)
_MOST = 4096
# By identity: the hash of a code object reads all of it.
_made: dict[int, tuple[CodeType, CodeType]] = {}
_parsed: dict[str, tuple[str, ast.Module]] = {}

Function = ast.FunctionDef | ast.Lambda


def has_constructs(code: CodeType) -> bool:
    """True if a function has loops or choices.

    >>> has_constructs((lambda x: x + 1).__code__)
    False
    """
    return any(not _JUMPS.isdisjoint(one.co_code[::2]) for one in _all_of(code))


def has_effects(code: CodeType) -> bool:
    """True if a function may change Python's data: it is to ask whether it may.

    >>> has_effects((lambda x: x.append(1)).__code__)
    True
    """
    return any(
        not CHANGING.isdisjoint(one.co_names)
        or not _STORES.isdisjoint(one.co_code[::2])
        for one in _all_of(code)
    )


def _all_of(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _all_of(const)


def code_of(code: CodeType, inner: bool = False) -> CodeType:
    """The code with its constructs rewritten; itself without any, or without source.

    A function that is called by another one may be called in what is recorded.
    """
    if code.co_flags & _SUSPENDED:
        return code
    asks = has_constructs(code) or "super" in code.co_names
    if not asks and not (inner and has_effects(code)):
        return code
    found = _made.get(id(code))
    if found is None or found[0] is not code:
        if len(_made) >= _MOST:
            _made.clear()
        found = _made[id(code)] = code, _rewrite(code) or code
    return found[1]


def is_lost(code: CodeType) -> bool:
    """True if a function's loops and choices were to be rewritten, but its source was
    not found."""
    found = _made.get(id(code))
    return found is not None and found[0] is found[1] is code


def _rewrite(code: CodeType) -> CodeType | None:
    tree = _module(code.co_filename)
    node = None if tree is None else _find(tree, code)
    if tree is None or node is None:
        return None
    node = _copied(node)
    rewritten(node, {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)})
    return _compiled(node, code)


def _module(file: str) -> ast.Module | None:
    """The syntax tree of a file; None where there is none."""
    text = "".join(linecache.getlines(file))
    found = _parsed.get(file)
    if found is None or found[0] != text:
        try:
            found = text, ast.parse(text)
        except (SyntaxError, ValueError):
            return None
        _parsed[file] = found
    return found[1] if text else None


def _find(tree: ast.Module, code: CodeType) -> Function | None:
    """The function in a file whose code this is; None if there is no such one."""
    fits: list[Any] = [node for node in ast.walk(tree) if _is_like(node, code)]
    if len(fits) > 1:  # several lambdas in a line: told apart by their columns
        spans = [p for p in code.co_positions() if None not in p]
        first = min((line, column) for line, _, column, _ in spans)
        last = max((line, column) for _, line, _, column in spans)
        fits = [
            n
            for n in fits
            if isinstance(n, ast.Lambda)
            and (n.body.lineno, n.body.col_offset) <= first
            and last <= (n.body.end_lineno, n.body.end_col_offset)
        ]
    return fits[0] if len(fits) == 1 else None


def _is_like(node: ast.AST, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return False
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return first == code.co_firstlineno


def _copied(node: Function) -> Function:
    """A copy of a function's tree; the one that is kept stays as it was."""
    if isinstance(node, ast.Lambda):
        return ast.copy_location(ast.Lambda(node.args, _copy(node.body)), node)
    fields = {name: getattr(node, name) for name in node._fields}
    fields["body"] = [_copy(part) for part in node.body]
    return ast.copy_location(ast.FunctionDef(**fields), node)


def _copy(node: Any) -> Any:
    if isinstance(node, list):
        return [_copy(part) for part in node]
    if not isinstance(node, ast.AST):
        return node
    made = type(node)(**{name: _copy(value) for name, value in ast.iter_fields(node)})
    return ast.copy_location(made, node)


def _compiled(node: Function, code: CodeType) -> CodeType | None:
    """The code of a tree, inside of what has the names that the function closes over,
    and of a class with the name of its own."""
    statement: Any = node
    if isinstance(node, ast.Lambda):
        statement = ast.copy_location(ast.Expr(node), node)
    around = code.co_qualname.split(".")[-2:-1]
    if around and around[0] != "<locals>":
        statement = ast.ClassDef(around[0], [], [], [statement], [])
    free = [name for name in code.co_freevars if name != "__class__"]
    if "__class__" in code.co_freevars and not isinstance(statement, ast.ClassDef):
        free.append("__class__")
    args = ast.arguments([], [ast.arg(n) for n in free], None, [], [], None, [])
    own: list[ast.stmt] = [statement]
    name = getattr(statement, "name", None)
    if name is not None and name not in code.co_freevars:
        # A function that calls itself, or names its class, finds it among the globals.
        own.insert(0, ast.Global([name]))
    outer = ast.FunctionDef("_", args, own, [], None)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    flags = code.co_flags & _FUTURE
    try:
        whole = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    except SyntaxError:  # too many blocks inside of each other
        return None
    for found in _all_of(whole):
        same = found.co_name == code.co_name
        if same and found.co_firstlineno == code.co_firstlineno:
            if sorted(found.co_freevars) != sorted(code.co_freevars):
                return None
            return _renamed(found, code.co_name, code.co_qualname)
    return None


def _renamed(code: CodeType, name: str, qualname: str) -> CodeType:
    """The code of a function by its own name, with the functions inside of it; what is
    evaluated later has the name of the function that it is written in."""
    consts = []
    for const in code.co_consts:
        if isinstance(const, CodeType):
            names = const.co_name, f"{qualname}.<locals>.{const.co_name}"
            later = LATER in const.co_varnames
            const = _renamed(const, *((name, qualname) if later else names))
        consts.append(const)
    return code.replace(co_name=name, co_qualname=qualname, co_consts=tuple(consts))
