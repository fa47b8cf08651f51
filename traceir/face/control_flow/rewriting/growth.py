"""Lists of a function's own to which it appends as often as values decide.

Serves: staged.list

An `out.append(value)` is rewritten to `out = appended(out, value)`, and before another
change `out` is set to what it is, since such a list is another object once a construct
that changes it is recorded. So nothing else may have the list: no other name, no
container, no function that keeps what it is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from traceir.face.control_flow.rewriting.jumps import SCOPES
from traceir.face.control_flow.rewriting.syntax import LIST, at, call, name_of

LOOPS = (ast.For, ast.While)
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
# Fields of statements that have statements.
_BLOCKS = ("body", "orelse", "finalbody")
# Functions that keep nothing of a list.
_BUILTIN = frozenset(
    (
        *("all", "any", "len", "max", "min", "print", "sorted", "sum"),
        *("bisect", "bisect_left", "bisect_right"),
    )
)
_MODULES = frozenset(("np", "numpy", "jnp", "bisect"))
_ITERATORS = frozenset(("enumerate", "reversed", "zip"))

# The nodes around a node, and itself.
Path = tuple[Any, ...]


def growing(node: ast.FunctionDef) -> frozenset[str]:
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
    >>> sorted(growing(ast.parse(function).body[0]))
    ['out']
    """
    return frozenset(
        name
        for name, paths in uses_of(node).items()
        if any(
            _is_conditional(path, paths) or _is_renewed(path, paths) for path in paths
        )
        and all(map(_is_kept, paths))
    )


def uses_of(node: ast.FunctionDef) -> dict[str, list[Path]]:
    """The places of each name in a function."""
    uses: dict[str, list[Path]] = {}
    for path in _paths((node,), node.body):
        if isinstance(path[-1], ast.Name):
            uses.setdefault(path[-1].id, []).append(path)
    return uses


def _paths(around: Path, nodes: Sequence[ast.AST]) -> Iterator[Path]:
    """The nodes of a function, each after those around it; of functions inside, too."""
    for node in nodes:
        path = (*around, node)
        yield path
        yield from _paths(path, list(ast.iter_child_nodes(node)))


def _is_append(path: Path) -> bool:
    is_method = isinstance(path[-2], ast.Attribute) and path[-2].attr == "append"
    if not is_method or not isinstance(path[-4], ast.Expr):
        return False
    match path[-3]:
        case ast.Call(args=[value], keywords=[]):
            return not isinstance(value, ast.Starred)
    return False


def _is_change(path: Path) -> bool:
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
    if _is_append(path) or _is_change(path):
        return True
    if isinstance(part, ast.Assign) and part.value is name:
        return _is_of_comprehension(name)
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
        return name in part.args and _keeps_nothing(part.func, inside)
    if isinstance(part, ast.Compare):
        return asks_for_membership(part, name)
    if isinstance(part, ast.Subscript):
        return part.value is name and isinstance(part.ctx, ast.Load)
    return isinstance(part, ast.Return)


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
            return _makes_a_list(value)
        case ast.Assign([ast.Tuple(names)], ast.Tuple(values)):
            pairs = zip(names, values, strict=False)
            return any(a is name and _makes_a_list(b) for a, b in pairs)
        case ast.Assign([target], value):
            return target is name and _makes_a_list(value)
    return False


def _makes_a_list(node: ast.expr) -> bool:
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


def _is_conditional(path: Path, uses: Sequence[Path]) -> bool:
    """True for a change of a list that has been made, by a construct, but for a number
    that is appended in each turn of one loop, which tells how often it is."""
    is_append = _is_append(path)
    if not is_append and not _is_change(path):
        return False
    if isinstance(path[-2], ast.Call):  # it compares elements
        return True
    stored = [p for p in uses if isinstance(p[-1].ctx, ast.Store)]
    made = [p for p in stored if not _is_change(p)]
    made = [p for p in made if _is_before(p, path)] or made
    between = min((_constructs(path, one[:-2]) for one in made), key=len, default=[])
    if not between:
        return False
    (loop, *rest) = between
    jumps = any(isinstance(n, _JUMPS) for n in ast.walk(loop))
    numbers = is_append and not isinstance(path[-3].args[0], ast.Tuple)
    return not numbers or bool(rest) or not isinstance(loop, ast.For) or jumps


def _is_renewed(path: Path, uses: Sequence[Path]) -> bool:
    """True where a construct gives a name another list, to which something appends."""
    if not isinstance(path[-1].ctx, ast.Store) or _is_change(path):
        return False
    made = [p for p in uses if isinstance(p[-1].ctx, ast.Store) and not _is_change(p)]
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
    blocks = [getattr(parent, field, ()) for field in _BLOCKS]
    return any(
        isinstance(block, list) and one[place] in block and child in block
        for block in blocks
    )


def _constructs(path: Path, around: Path) -> list[ast.AST]:
    """The constructs around a node that are not around another."""
    kinds = (ast.If, *LOOPS, ast.Try, ast.With)
    return [p for p in path if isinstance(p, kinds) and not any(p is a for a in around)]


class NamedChanges(ast.NodeTransformer):
    """Statements that change some lists, rewritten to set their names."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        # Those that have a list by now, and how many constructs are around.
        self.made: set[str] = set()
        self.depth = 0

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements, rewritten."""
        return [made for node in body for made in self._statement(node)]

    def _inner(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements of a construct, which need not run."""
        made = set(self.made)
        self.depth += 1
        found = self.block(body)
        self.depth -= 1
        self.made = made
        return found

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign([ast.Name(out)], ast.List() as items) if out in self.names:
                again = self.depth and out in self.made
                self.made.add(out)
                value = self.visit(items)
                if again:  # nobody else has the list, so it may be the same
                    value = call("renewed", name_of(out), value)
                return [_named(node, out, value)]
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                pairs = zip(targets, values, strict=False)
                lists = [a for a, b in pairs if _makes_a_list(b)]
                self.made |= {a.id for a in lists if isinstance(a, ast.Name)}
            case ast.AnnAssign(ast.Name(out), value=ast.List()):
                self.made.add(out)
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(out), "append"), [value])):
                if out in self.names:
                    item = self.visit(value)
                    return [_named(node, out, call("appended", name_of(out), item))]
            case ast.AugAssign(ast.Name(out), ast.Add(), value):
                if out in self.names:
                    method = ast.Attribute(name_of(out), "extend", ast.Load())
                    added = ast.Call(method, [self.visit(value)], [])
                    return [*self._setting(node, [out]), at(node, ast.Expr(added))]
        setting = self._setting(node, sorted(self._changed(node)))
        for field, value in ast.iter_fields(node):
            if field in _BLOCKS and value:
                first = setting if field == "body" else []
                setattr(node, field, [*first, *self._inner(value)])
            elif field in ("handlers", "cases"):
                for part in value:
                    part.body = self._inner(part.body)
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
            elif isinstance(value, list):
                setattr(node, field, [self.visit(part) for part in value])
        return [*setting, node]

    def _setting(self, node: ast.stmt, names: Sequence[str]) -> list[ast.stmt]:
        """Statements that set names to what they have."""
        return [_named(node, out, call("same", name_of(out))) for out in names]

    def _changed(self, node: ast.stmt) -> Iterator[str]:
        """The lists that a statement's own expressions change."""
        for field, value in ast.iter_fields(node):
            if field in (*_BLOCKS, "handlers", "cases"):
                continue
            for part in value if isinstance(value, list) else [value]:
                for path in _paths(
                    (node,), [part] if isinstance(part, ast.AST) else []
                ):
                    name = path[-1]
                    if isinstance(name, ast.Name) and _is_change((None, *path)):
                        yield name.id

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """`out and ...`, of which only the truth is asked for."""
        self.generic_visit(node)
        node.values = [
            at(v, call("truth", v))
            if isinstance(v, ast.Name) and v.id in self.names
            else v
            for v in node.values
        ]
        return node


def _named(node: ast.stmt, name: str, value: ast.expr) -> ast.stmt:
    return at(node, ast.Assign([ast.Name(name, ast.Store())], value))
