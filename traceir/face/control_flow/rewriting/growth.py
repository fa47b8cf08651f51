"""Lists of a function's own to which it appends as often as values decide.

Serves: staged.list

An `out.append(value)` is rewritten to `out = appended(out, value)`, and before another
change `out` is set to what it is, since such a list is another object once a construct
that changes it is recorded. So nothing else may have the list: no other name, no
container. A list that a user's function is given is `lent`: it is not made another one
after that.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from traceir.face.control_flow.rewriting.jumps import SCOPES
from traceir.face.control_flow.rewriting.syntax import LIST

LOOPS = (ast.For, ast.While)
_CONSTRUCTS = (ast.If, *LOOPS, ast.Try, ast.With)
_JUMPS = (ast.Break, ast.Continue, ast.Return)
# Methods that change a list, and which lists that grow have.
_METHODS = frozenset(("clear", "extend", "insert", "pop", "reverse"))
# Functions that change their first argument, and keep nothing else of it.
_FUNCTIONS = frozenset(
    (
        *("heappush", "heappop", "heapify", "heapreplace", "heappushpop"),
        *("insort", "insort_left", "insort_right"),
    )
)
# Calls inside of one another that are looked at.
_DEEPEST = 3
# Fields of statements that have statements.
BLOCKS = ("body", "orelse", "finalbody")
# Functions that keep nothing of a list.
_BUILTIN = frozenset(
    (
        *("all", "any", "len", "list", "max", "min", "print", "sorted", "sum"),
        *("bisect", "bisect_left", "bisect_right"),
    )
)
_MODULES = frozenset(("np", "numpy", "jnp", "bisect"))
_ITERATORS = frozenset(("enumerate", "reversed", "zip"))

# The nodes around a node, and itself.
Path = tuple[Any, ...]
# The functions of a file, by their names.
Functions = Mapping[str, ast.FunctionDef]


def growing(node: ast.FunctionDef, functions: Functions) -> frozenset[str]:
    """The names of lists that a construct changes, but for those to which a loop alone
    appends in each turn.

    >>> function = '''
    ... def f(x):
    ...     out, every = [], []
    ...     for v in x:
    ...         every.append(v)
    ...         if v > 0:
    ...             out.append(v)
    ...     return np.array(out), every
    ... '''
    >>> sorted(growing(ast.parse(function).body[0], {}))
    ['out']
    """
    return frozenset(
        name
        for name, paths in uses_of(node).items()
        if any(
            _is_of_comprehension(path[-1])
            or _is_conditional(path, paths, functions)
            or _is_renewed(path, paths)
            for path in paths
        )
        and all(map(_is_kept, paths))
    )


def uses_of(node: ast.FunctionDef) -> dict[str, list[Path]]:
    """The places of each name in a function."""
    uses: dict[str, list[Path]] = {}
    for path in paths_of((node,), node.body):
        if isinstance(path[-1], ast.Name):
            uses.setdefault(path[-1].id, []).append(path)
    return uses


def paths_of(around: Path, nodes: Sequence[ast.AST]) -> Iterator[Path]:
    """The nodes of a function, each after those around it; of functions inside, too."""
    for node in nodes:
        path = (*around, node)
        yield path
        yield from paths_of(path, list(ast.iter_child_nodes(node)))


def _is_append(path: Path) -> bool:
    is_method = isinstance(path[-2], ast.Attribute) and path[-2].attr == "append"
    if not is_method or not isinstance(path[-4], ast.Expr):
        return False
    match path[-3]:
        case ast.Call(args=[value], keywords=[]):
            return not isinstance(value, ast.Starred)
    return False


def is_change(path: Path) -> bool:
    """True for another change of a list: of an element, or by one of its methods."""
    name, part = path[-1], path[-2]
    if isinstance(part, ast.Subscript):
        return part.value is name and isinstance(part.ctx, ast.Store)
    if isinstance(part, ast.AugAssign):
        return part.target is name and isinstance(part.op, ast.Add)
    if isinstance(part, ast.Call):
        return part.args[:1] == [name] and _name_of(part.func) in _FUNCTIONS
    is_method = isinstance(part, ast.Attribute) and part.attr in _METHODS
    match path[-3]:
        case ast.Call(args=values, keywords=[]) if is_method:
            return not any(isinstance(value, ast.Starred) for value in values)
    return False


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_of_comprehension(name: Any) -> bool:
    """True for the name of a list of a comprehension, which nothing else asks for."""
    return str(name.id).startswith(LIST)


def _is_kept(path: Path) -> bool:
    """True if the list that a name has is nobody else's after this use of the name."""
    if any(isinstance(part, SCOPES) for part in path[1:]):
        return False
    name, part = path[-1], path[-2]
    if _is_append(path) or is_change(path):
        return True
    if _is_of_comprehension(name) and not isinstance(name.ctx, ast.Store):
        return True  # it is asked for once, when it has all elements
    if isinstance(name.ctx, ast.Store):
        return _is_made(name, path[-3] if isinstance(part, ast.Tuple) else part)
    if is_asked_for_truth(path):
        return True
    if isinstance(part, (ast.For, ast.comprehension)):
        return part.iter is name
    if isinstance(part, ast.Tuple):
        return isinstance(path[-3], ast.Return)
    if isinstance(part, ast.Call):
        inside = isinstance(path[-3], (ast.For, ast.comprehension))
        keeps_nothing = _keeps_nothing(part.func, inside) or is_users(part.func)
        return name in part.args and keeps_nothing
    if isinstance(part, ast.keyword):
        return isinstance(path[-3], ast.Call) and is_users(path[-3].func)
    if isinstance(part, ast.Compare):
        return asks_for_membership(part, name)
    if isinstance(part, ast.Subscript):
        return part.value is name and isinstance(part.ctx, ast.Load)
    is_sum = isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add)
    return is_sum or isinstance(part, ast.Return)


def is_asked_for_truth(path: Path) -> bool:
    """True where the last node of a path is a test, or a part of one."""
    *around, node = path
    part = around[-1]
    if isinstance(part, (ast.If, ast.While, ast.IfExp)):
        return part.test is node
    if isinstance(part, ast.BoolOp):
        return is_asked_for_truth(tuple(around))
    return isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not)


def asks_for_membership(node: ast.Compare, name: ast.AST) -> bool:
    """True for `... in name`."""
    is_in = len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn))
    return is_in and node.comparators[0] is name


def _is_made(name: ast.AST, node: ast.AST) -> bool:
    """True for an assignment to a name of a list that is made there."""
    match node:
        case ast.AnnAssign(value=ast.expr() as value):
            return makes_a_list(value)
        case ast.Assign([ast.Tuple(names)], ast.Tuple(values)):
            pairs = zip(names, values, strict=False)
            return any(a is name and makes_a_list(b) for a, b in pairs)
        case ast.Assign([target], value):
            return target is name and makes_a_list(value)
    return False


def makes_a_list(node: ast.expr) -> bool:
    """True for an expression that makes a new list."""
    match node:
        case ast.BinOp(ast.List(), ast.Mult(), _) | ast.BinOp(
            _, ast.Mult(), ast.List()
        ):
            return True
        case ast.Call(ast.Name("list"), [_], []):
            return True
        case ast.Call(ast.Name("List"), []) | ast.Call(ast.Attribute(_, "List"), []):
            return True
        case ast.Call(ast.Attribute(_, "empty_list")):
            return True
        case ast.Name(name):
            return name.startswith(LIST)
    return isinstance(node, (ast.List, ast.ListComp))


def _keeps_nothing(function: ast.expr, is_iterated: bool) -> bool:
    if isinstance(function, ast.Name):
        return function.id in _BUILTIN or (is_iterated and function.id in _ITERATORS)
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and function.id in _MODULES


def is_users(function: ast.expr) -> bool:
    """True for the name of a function that is none of Python's."""
    if not isinstance(function, ast.Name) or function.id in _FUNCTIONS | _BUILTIN:
        return False
    return not hasattr(builtins, function.id)


def is_changed(path: Path, functions: Functions) -> bool:
    """True where the function of the file that has a call's name changes the list that
    it is given.

    >>> function, user = ast.parse(
    ...     "def push(out, v): out.append(v)\\ndef f(x): push(x, 1)"
    ... ).body
    >>> is_changed(uses_of(user)["x"][0], {"push": function})
    True
    """
    return any(_inner_changes(path, functions, 0))


def _inner_changes(path: Path, functions: Functions, depth: int) -> Iterator[Path]:
    """The places in a function that is called which change the list it is given."""
    for one in inner_uses(path, functions):
        if _is_append(one) or is_change(one):
            yield one
        elif depth < _DEEPEST:
            yield from _inner_changes(one, functions, depth + 1)


def inner_uses(path: Path, functions: Functions) -> Sequence[Path]:
    """The places of a list in the function of the file that a call gives it to."""
    name, around = path[-1], path[-2]
    called = path[-3] if isinstance(around, ast.keyword) else around
    if not isinstance(called, ast.Call) or not is_users(called.func):
        return ()
    function = functions.get(_name_of(called.func))
    if function is None:
        return ()
    if isinstance(around, ast.keyword):
        return uses_of(function).get(around.arg or "", ())
    names = [arg.arg for arg in function.args.posonlyargs + function.args.args]
    pairs = zip(names, called.args, strict=False)
    uses = uses_of(function)
    return [use for one, given in pairs if given is name for use in uses.get(one, ())]


def line_of_borrower(path: Path, functions: Functions) -> int:
    """The first line of the function that keeps nothing of the list that a call gives
    it, by the call's name; 0 where it may keep it."""
    around = path[-2]
    called = path[-3] if isinstance(around, ast.keyword) else around
    function = functions.get(_name_of(called.func))
    if function is None or any(map(_is_yield, ast.walk(function))):
        return 0
    if not all(
        _is_kept(one) and not _is_passed_on(one) for one in inner_uses(path, functions)
    ):
        return 0
    return min([function.lineno, *(d.lineno for d in function.decorator_list)])


def _is_yield(node: ast.AST) -> bool:
    return isinstance(node, (ast.Yield, ast.YieldFrom))


def _is_passed_on(path: Path) -> bool:
    """True where a list is a result, or an argument of a user's function."""
    around = path[-2]
    if isinstance(around, ast.Call):
        return is_users(around.func) and path[-1] is not around.func
    return isinstance(around, (ast.Return, ast.Tuple, ast.keyword))


def _is_conditional(path: Path, uses: Sequence[Path], functions: Functions) -> bool:
    """True for a change of a list that has been made, by a construct, but for a number
    that is appended in each turn of one loop, which tells how often it is."""
    is_append = _is_append(path)
    changed = is_changed(path, functions)
    if not is_append and not is_change(path) and not changed:
        return False
    if isinstance(path[-2], ast.Call) and not changed:  # it compares elements
        return True
    stored = [p for p in uses if isinstance(p[-1].ctx, ast.Store)]
    made = [p for p in stored if not is_change(p)]
    made = [p for p in made if _is_before(p, path)] or made
    between = min((_constructs(path, one[:-2]) for one in made), key=len, default=[])
    if not between:
        inner = _inner_changes(path, functions, 0)
        return any(isinstance(n, _CONSTRUCTS) for one in inner for n in one)
    (loop, *rest) = between
    jumps = any(isinstance(n, _JUMPS) for n in ast.walk(loop))
    numbers = is_append and not isinstance(path[-3].args[0], ast.Tuple)
    return not numbers or bool(rest) or not isinstance(loop, ast.For) or jumps


def _is_renewed(path: Path, uses: Sequence[Path]) -> bool:
    """True where a construct gives a name another list, to which something appends."""
    if not isinstance(path[-1].ctx, ast.Store) or is_change(path):
        return False
    made = [p for p in uses if isinstance(p[-1].ctx, ast.Store) and not is_change(p)]
    before = [p for p in made if p is not path and _is_before(p, path)]
    inside = any(_constructs(path, p[:-2]) for p in before)
    return inside and any(map(_is_append, uses))


def _is_before(one: Path, path: Path) -> bool:
    """True if a statement is in a block that is around another node."""
    place = next(k for k, node in enumerate(one) if node is one[-2])
    while not isinstance(one[place], ast.stmt):
        place -= 1
    parent = one[place - 1]
    if not any(node is parent for node in path):
        return False
    child = path[next(k for k, node in enumerate(path) if node is parent) + 1]
    blocks = [getattr(parent, field, ()) for field in BLOCKS]
    return any(
        isinstance(block, list) and one[place] in block and child in block
        for block in blocks
    )


def _constructs(path: Path, around: Path) -> list[ast.AST]:
    """The constructs around a node that are not around another."""
    found = [p for p in path if isinstance(p, _CONSTRUCTS)]
    return [p for p in found if not any(p is a for a in around)]
