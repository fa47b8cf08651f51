"""A function's syntax tree with its loops and choices handed over.

Serves: staged.construct

Each construct asks an object of `runtime`, when it is reached, whether Python is to run
it or whether it is recorded. The function keeps its names, its frame and its lines:
what a recorded side or turn changes is read from `locals()` and put back. A choice is
rewritten so::

    c = If(("x", "y"), ("y",), test)
    while c.next(locals()):
        with c:
            if c.moved:
                x, y = c.values
            if c.side:
                ...
            else:
                ...
            c.done(locals())
    if c.moved:
        x, y = c.values
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from traceir.face.control_flow.rewriting import names
from traceir.face.control_flow.rewriting.comprehensions import Comprehensions
from traceir.face.control_flow.rewriting.growth import Functions, growing
from traceir.face.control_flow.rewriting.jumps import RESULT, lowered, sets_names
from traceir.face.control_flow.rewriting.liveness import Liveness
from traceir.face.control_flow.rewriting.named_changes import NamedChanges
from traceir.face.control_flow.rewriting.syntax import (
    RUNTIME,
    SUPER,
    ConstructSyntax,
    at,
    call,
    later,
    name_of,
    strings,
)
from traceir.face.control_flow.rewriting.tables import MadeTables, tables

# Indices that may be a traced number.
_PLACES = (ast.Name, ast.BinOp, ast.Call, ast.Subscript, ast.Attribute, ast.IfExp)
NONE: frozenset[str] = frozenset()
# Methods of an object that is being made.
_MAKING = frozenset(("__init__", "__post_init__"))
# Methods of Python's containers that change them.
CHANGING = frozenset(
    (
        *("append", "extend", "insert", "pop", "remove", "clear", "update", "add"),
        *("discard", "popitem", "setdefault", "appendleft", "popleft", "reverse"),
        *("sort", "extendleft", "rotate"),
    )
)


def rewritten(
    node: ast.FunctionDef | ast.Lambda,
    functions: Functions,
    unsure: frozenset[str] = NONE,
) -> None:
    """Rewrite the constructs of a function, in place.

    `functions` are those of its file, `unsure` names of functions around it that may
    have no value.
    """
    inner = unsure - {arg.arg for arg in names.parameters(node)}
    if isinstance(node, ast.Lambda):
        node.body = ControlFlow(inner, functions).visit(node.body)
        return
    if node.name in _MAKING and names.parameters(node):
        own = ast.Name(names.parameters(node)[0].arg, ast.Load())
        node.body = [at(node.body[0], ast.Expr(call("fresh", own))), *node.body]
    node.body = Comprehensions().block(node.body)
    lists = growing(node, functions)
    if made := tables(node):
        for part in node.body:  # they are changed in place
            MadeTables(made).visit(part)
    if lists:
        node.body = NamedChanges(lists, functions).block(node.body)
    unbound = names.unsure(node)
    node.body = lowered(node.body)
    inner = (inner - names.assigned(node.body)) | unbound | names.unsure(node)
    shared = names.set_inside(node)
    flow = ControlFlow(inner, functions, names.declared(node, ast.Global), shared)
    flow.live = Liveness(node.body)
    flow.captured = names.used_inside(node)
    flow.lists = lists
    flow.first = [arg.arg for arg in names.parameters(node)][:1]
    node.body = [*_unbound(node, unbound), *flow.block(node.body)]


def _unbound(node: ast.FunctionDef, unsure: frozenset[str]) -> list[ast.stmt]:
    """Statements by which the names of a function's own that may have no value are seen
    to have none: those that only statements set which are never reached, too."""
    found = unsure - {arg.arg for arg in names.parameters(node)}
    found -= names.declared(node, ast.Nonlocal)
    if not found:
        return []
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in sorted(found)]
    nothing = ast.Attribute(ast.Name(RUNTIME, ast.Load()), "UNBOUND", ast.Load())
    return [at(node.body[0], ast.Assign(targets, nothing))]


class ControlFlow(ast.NodeTransformer):
    """The rewriting of one function's body.

    `unsure` are names that may be unbound, `outside` those that are global, `shared`
    those that functions inside of it set.
    """

    def __init__(
        self,
        unsure: frozenset[str],
        functions: Functions,
        outside: frozenset[str] = NONE,
        shared: frozenset[str] = NONE,
    ) -> None:
        self.count = 0
        self.unsure = unsure
        self.functions = functions
        self.outside = outside
        self.shared = shared
        self.live = Liveness(())
        self.first: list[str] = []
        self.captured = NONE
        self.lists = NONE

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements, rewritten."""
        found: list[ast.stmt] = []
        for node in body:
            made = self.visit(node)
            found += made if isinstance(made, list) else [made]
        return found

    # Statements -------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """A function inside: rewritten, too."""
        rewritten(node, self.functions, self.unsure)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """A lambda: its expression is rewritten."""
        rewritten(node, self.functions, self.unsure)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        """A coroutine: it stays as it is."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        """A class: its methods are rewritten."""
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                rewritten(part, self.functions, self.unsure)
        return node

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        """A choice: `runtime.If`."""
        one = self._construct("If", node.test, node)
        body, orelse = self.block(node.body), self.block(node.orelse)
        sides = ast.If(one.attribute("side"), body, orelse)
        kept = strings(sorted((self.live.kept(node) | self.shared) - self.outside))
        made = [kept, self._lists(node), self.visit(node.test)]
        return one.statements(made, [*one.restore(), sides])

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        """A loop: `runtime.For`."""
        one = self._construct("For", node.iter, node)
        lists = sorted(names.appended(node.body) - self.captured)
        made = [self.visit(node.iter), *_loop_parts(node), strings(lists)]
        made.append(self._lists(node))
        item = ast.Assign([node.target], one.attribute("item"))
        return one.statements(made, [*one.restore(), item, *self.block(node.body)])

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        """A loop: `runtime.While`."""
        one = self._construct("While", node.test, node)
        holds = ast.Call(one.attribute("holds"), [self.visit(node.test)], [])
        body = [*one.restore(), *self.block(node.body)]
        turn = ast.If(holds, body, [])
        made = [*_loop_parts(node), self._lists(node)]
        return one.statements(made, [*one.restore(), turn])

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """An update of a name, which may be one in place."""
        target = node.target
        self.generic_visit(node)
        if not isinstance(target, ast.Name):
            return node
        value: ast.expr = ast.Name(target.id, ast.Load())
        if target.id in self.unsure:
            value = call("bound", value, ast.Constant(target.id))
        if target.id in self.outside:
            value = call("changed", ast.Constant(target.id))
            return [at(node, ast.Expr(value)), node]
        return [at(node, ast.Assign([target], call("mutated", value))), node]

    def visit_Assign(self, node: ast.Assign) -> Any:
        """An assignment, which may be to a name of the module."""
        value = node.value
        if isinstance(value, ast.Name) and value.id in self.unsure:
            node.value = at(value, call("copied", value, ast.Constant(value.id)))
            node.targets = [self.visit(target) for target in node.targets]
        else:
            self.generic_visit(node)
        return [*self._outer_writes(node), node]

    def _outer_writes(self, node: ast.stmt) -> list[ast.stmt]:
        """A question before each name of the module that a statement sets."""
        found = sorted(names.assigned([node]) & self.outside)
        calls = [call("changed", ast.Constant(name)) for name in found]
        return [at(node, ast.Expr(call)) for call in calls]

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        """An assertion: `runtime.check`."""
        message = self.visit(node.msg) if node.msg else ast.Constant(None)
        test = self.visit(node.test)
        return at(node, ast.Expr(call("check", test, later(message))))

    def visit_Try(self, node: ast.Try) -> ast.stmt:
        """A `try`: the classes that it handles are known while it is tried, and a
        handler begins with a look at its exception."""
        self.generic_visit(node)
        if not node.handlers:
            return node
        kinds = [h.type or name_of("BaseException") for h in node.handlers]
        trying = call("Trying", later(at(node, ast.Tuple(kinds, ast.Load()))))
        node.body = [at(node, ast.With([ast.withitem(trying)], node.body))]
        for handler in node.handlers:
            handler.body.insert(0, at(handler, ast.Expr(call("caught"))))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """A text by `%` may have traced numbers in it."""
        self.generic_visit(node)
        text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        if not text or not isinstance(node.op, ast.Mod):
            return node
        return at(node, call("formatted", node.left, node.right))

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        """An exception: `runtime.raised` makes it."""
        self.generic_visit(node)
        if node.exc is not None:
            node.exc = at(node.exc, call("raised", later(node.exc)))
        return node

    # Expressions ------------------------------------------------------------------

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """An f-string, whose values may be traced."""
        parts: list[ast.expr] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                spec = part.format_spec or ast.Constant("")
                how = ast.Constant(part.conversion)
                made = [self.visit(part.value), how, self.visit(spec)]
                parts.append(ast.Tuple(made, ast.Load()))
            else:
                parts.append(part)
        return at(node, call("text", *parts))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """A conditional expression: `runtime.choose`."""
        self.generic_visit(node)
        if sets_names(node.body) or sets_names(node.orelse):
            return node
        return at(node, call("choose", node.test, later(node.body), later(node.orelse)))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """`and` and `or`: `runtime.all_of` and `any_of`."""
        self.generic_visit(node)
        if any(map(sets_names, node.values[1:])):
            return node
        name = "all_of" if isinstance(node.op, ast.And) else "any_of"
        first, *rest = node.values
        return at(node, call(name, first, *map(later, rest)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """`not`: `runtime.negated`."""
        self.generic_visit(node)
        is_not = isinstance(node.op, ast.Not)
        return at(node, call("negated", node.operand)) if is_not else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """A chain of comparisons: `runtime.chained`; one with None, or of what is
        among others."""
        left = node.left
        if (
            _asks_for_none(node)
            and isinstance(left, ast.Name)
            and left.id in self.unsure
        ):
            asked = at(node, call("is_none", left, ast.Constant(left.id)))
            is_not = isinstance(node.ops[0], ast.IsNot)
            return at(node, call("negated", asked)) if is_not else asked
        self.generic_visit(node)
        if isinstance(node.ops[0], (ast.In, ast.NotIn)) and len(node.ops) == 1:
            found = at(node, call("is_among", left, *node.comparators))
            is_in = isinstance(node.ops[0], ast.In)
            return found if is_in else at(node, call("negated", found))
        if len(node.ops) == 1 or any(map(sets_names, node.comparators)):
            return node
        parts: list[ast.expr] = []
        for op, right in zip(node.ops, node.comparators, strict=True):
            left, value = (ast.Name(n, ast.Load()) for n in ("a", "b"))
            test = ast.Compare(left, [op], [value])
            parts += (later(test, "a", "b"), later(right))
        return at(node, call("chained", node.left, *parts))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call of a method that may change its object."""
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in CHANGING:
            function.value = at(function, call("mutated", self.visit(function.value)))
            node.args = [self.visit(value) for value in node.args]
            node.keywords = [self.visit(value) for value in node.keywords]
            return node
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id == "list" and node.args:
            return at(node, call("listed", function, *node.args))
        is_super = isinstance(function, ast.Name) and function.id == "super"
        if is_super and self.first and not node.args:
            own = [ast.Name(name, ast.Load()) for name in ("__class__", *self.first)]
            return at(node, ast.Call(ast.Name(SUPER, ast.Load()), list(own), []))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """An element, which may be set."""
        made = self._target(node)
        if isinstance(node.ctx, ast.Load) and isinstance(node.slice, _PLACES):
            node.value = at(node.value, call("indexed", node.value))
        return made

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """An attribute, which may be set, or a method that is called later."""
        made = self._target(node)
        if isinstance(node.ctx, ast.Load) and node.attr in CHANGING:
            return at(node, call("method", node.value, ast.Constant(node.attr)))
        return made

    def _target(self, node: Any) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            node.value = at(node.value, call("changed", node.value))
        return node  # type: ignore[no-any-return]  # it is an expression

    def _display(self, node: Any) -> ast.expr:
        self.generic_visit(node)
        if isinstance(getattr(node, "ctx", None), ast.Store):
            return node  # type: ignore[no-any-return]  # it is an expression
        return at(node, call("fresh", node))

    visit_List = visit_ListComp = visit_Dict = visit_DictComp = _display
    visit_Set = visit_SetComp = _display

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name that is read: it may have no value."""
        if not isinstance(node.ctx, ast.Load):
            return node
        if node.id == RESULT:
            return at(node, call("returned", node))
        if node.id in self.unsure:
            return at(node, call("bound", node, ast.Constant(node.id)))
        return node

    def _lists(self, node: ast.stmt) -> ast.expr:
        """The names of lists to which a construct may append."""
        return strings(sorted(self.lists & names.assigned([node])))

    def _construct(self, kind: str, place: ast.AST, node: ast.stmt) -> ConstructSyntax:
        self.count += 1
        found = sorted((self.live.handed_on(node) | self.shared) - self.outside)
        return ConstructSyntax(kind, f"_traceir_{self.count}", place, found)


def _asks_for_none(node: ast.Compare) -> bool:
    """True for `... is None` and `... is not None`."""
    right = node.comparators[0]
    is_none = isinstance(right, ast.Constant) and right.value is None
    return (
        len(node.ops) == 1 and is_none and isinstance(node.ops[0], (ast.Is, ast.IsNot))
    )


def _loop_parts(node: ast.For | ast.While) -> list[ast.expr]:
    """The flags that stop a loop, and names of arrays that it writes to."""
    stops = getattr(node, "stops", ())
    return [strings(stops), strings(sorted(names.written(node.body)))]
