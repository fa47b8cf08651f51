"""`return`, `break` and `continue` as flags and choices. Serves: staged.jump

A loop or a choice that is recorded has one way out. So what follows a side that jumps
goes to the other side; where that is not enough, a flag is set, what follows asks it,
and loops stop by it. Statements keep their lines.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, TypeVar

Block = list[ast.stmt]
Node = TypeVar("Node", bound=ast.AST)

RESULT = "_traceir_result"
RETURNED = "_traceir_returned"
_LOOPS = (ast.For, ast.While)
# Choices, each in the `else` of the one before, that stay so: far fewer than the blocks
# that Python's compiler takes, 20, of which each takes two.
_LONGEST_CHAIN = 4
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
# The fields of statements that hold statements.
_BLOCKS = ("body", "orelse", "finalbody")


def lowered(body: Block) -> Block:
    """The statements of a function without jumps out of loops and choices."""
    nested = _nested_return(body)
    if nested and _falls_through(body):
        body = [*body, _at(body[-1], ast.Return(ast.Constant(None)))]
    made = _unnested(_Lowering(nested).block(body, None, True))
    if RETURNED in _set_flags(made):
        made.insert(0, _set(body[0], RETURNED, ast.Constant(False)))
    if nested:
        made.append(_at(body[-1], ast.Return(ast.Name(RESULT, ast.Load()))))
    return made


def _nested_return(body: Block) -> bool:
    """True if a function returns from inside of a loop or a choice, or does so when
    what follows a side that raises is on the other side."""
    inside = [n for n in walk(body) if isinstance(n, (ast.If, *_LOOPS, ast.Match))]
    raises = _has([n for n in inside if isinstance(n, ast.If)], ast.Raise)
    return _has(body if raises else inside, ast.Return)


def walk(statements: Sequence[ast.AST]) -> list[ast.AST]:
    """Statements and what they hold, without the insides of functions and classes."""
    found: list[ast.AST] = []
    todo = list(statements)
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, SCOPES):
            todo += ast.iter_child_nodes(node)
    return found


def _has(body: Sequence[ast.AST], kind: type) -> bool:
    return any(isinstance(node, kind) for node in walk(body))


def _breaks(body: Block, kind: type) -> bool:
    """True if a loop's own body has a `break` or a `continue`."""
    for node in body:
        if isinstance(node, kind):
            return True
        if isinstance(node, SCOPES):
            continue
        if isinstance(node, _LOOPS):
            if _breaks(node.orelse, kind):
                return True
        elif any(_breaks(part, kind) for part in _blocks(node)):
            return True
    return False


def _blocks(node: ast.stmt) -> list[Block]:
    """The blocks of statements in a statement."""
    found = [getattr(node, name, []) for name in _BLOCKS]
    found += [handler.body for handler in getattr(node, "handlers", [])]
    found += [case.body for case in getattr(node, "cases", [])]
    return found


def _falls_through(body: Block) -> bool:
    """True if the end of some statements may be reached."""
    return not any(map(_leaves, body))


def _leaves(node: ast.stmt) -> bool:
    """True if nothing after a statement is reached."""
    if isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return True
    if isinstance(node, ast.If):
        return not _falls_through(node.body) and not _falls_through(node.orelse)
    if isinstance(node, ast.While):
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return always and not _breaks(node.body, ast.Break)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return False  # it may swallow an exception
    return False


class _Lowering:
    """The rewriting of one function; `nested` says that it returns from inside."""

    def __init__(self, nested: bool) -> None:
        self.nested = nested
        self.count = 0

    def block(self, body: Block, loop: _LoopFlags | None, tail: bool) -> Block:
        """Statements without jumps; `tail` says that the function ends after them, or
        the turn of the loop."""
        found: Block = []
        for k, node in enumerate(body):
            rest = body[k + 1 :]
            if isinstance(node, ast.If) and rest:
                merged = _taking(node, rest)
                if merged is not None:
                    return found + self.statement(merged, loop, tail)
            made = self.statement(node, loop, tail and not rest)
            found += made
            if _leaves(node):
                return found
            own = {loop.broken, loop.continued} if loop else set()
            flags = _set_flags(made) & {RETURNED, *own}
            if flags and rest:
                after = self.block(rest, loop, tail)
                return [*found, _at(node, ast.If(_none_of(flags), after, []))]
        return found

    def statement(self, node: ast.stmt, loop: _LoopFlags | None, tail: bool) -> Block:
        """A statement without jumps."""
        if isinstance(node, ast.Return):
            return self._return(node, loop, tail)
        if isinstance(node, (ast.Break, ast.Continue)):
            return self._jump(node, loop, tail)
        if isinstance(node, ast.If):
            body = self.block(node.body, loop, tail)
            orelse = self.block(node.orelse, loop, tail)
            return [
                _at(node, ast.If(node.test, body or [_at(node, ast.Pass())], orelse))
            ]
        if isinstance(node, _LOOPS):
            return self._loop(node, loop, tail)
        if isinstance(node, SCOPES):
            return [node]
        for name in _BLOCKS:
            part = getattr(node, name, None)
            if part:
                inner = tail and not (isinstance(node, ast.Try) and node.orelse)
                setattr(
                    node, name, self.block(part, loop, inner and name != "finalbody")
                )
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            part.body = self.block(part.body, loop, tail)
        return [node]

    def _return(self, node: ast.Return, loop: _LoopFlags | None, tail: bool) -> Block:
        if not self.nested:
            return [node]
        value = node.value or _at(node, ast.Constant(None))
        found: Block = [_set(node, RESULT, value)]
        if loop is not None or not tail:
            found.append(_set(node, RETURNED, ast.Constant(True)))
        if loop is not None:
            loop.returns = True
        return found

    def _jump(self, node: ast.stmt, loop: _LoopFlags | None, tail: bool) -> Block:
        assert loop is not None  # or Python would not have compiled it
        if isinstance(node, ast.Break):
            loop.breaks = True
            return [_set(node, loop.broken, ast.Constant(True))]
        if tail:
            return [_at(node, ast.Pass())]
        loop.continues = True
        return [_set(node, loop.continued, ast.Constant(True))]

    def _loop(
        self, node: ast.For | ast.While, outer: _LoopFlags | None, tail: bool
    ) -> Block:
        self.count += 1
        loop = _LoopFlags(self.count)
        if isinstance(node, ast.While) and sets_names(node.test):
            ended = f"_traceir_ended_{self.count}"
            return self.block(_testing_inside(node, ended), outer, tail)
        body = self.block(node.body, loop, True)
        if loop.continues:
            body.insert(0, _set(node, loop.continued, ast.Constant(False)))
        made: Block = []
        stops = []
        if loop.breaks:
            made.append(_set(node, loop.broken, ast.Constant(False)))
            stops.append(loop.broken)
        if loop.returns:
            stops.append(RETURNED)
            if outer is not None:
                outer.returns = True
        new: Any
        if isinstance(node, ast.For):
            new = ast.For(node.target, node.iter, body, [])
        else:
            new = ast.While(node.test, body, [])
        new = _at(node, new)
        new.stops = stops  # for `rewrite`
        made.append(new)
        after = self.block(node.orelse, outer, tail)
        if after and stops:
            after = [_at(node, ast.If(_none_of(stops), after, []))]
        return made + after


class _LoopFlags:
    """The flags of a loop, and which of them its body sets."""

    def __init__(self, number: int) -> None:
        self.broken = f"_traceir_broken_{number}"
        self.continued = f"_traceir_continued_{number}"
        self.breaks = self.continues = self.returns = False


def sets_names(node: ast.expr) -> bool:
    """True if an expression sets names, by `:=`."""
    return any(isinstance(part, ast.NamedExpr) for part in ast.walk(node))


def _testing_inside(node: ast.While, ended: str) -> Block:
    """A loop whose test is the first statement of its body; a flag tells that it has
    ended by its test."""
    last: Block = [_set(node, ended, ast.Constant(True))] if node.orelse else []
    first = _at(node, ast.If(node.test, [ast.Pass()], [*last, ast.Break()]))
    made: Block = [_at(node, ast.While(ast.Constant(True), [first, *node.body], []))]
    if node.orelse:
        made.insert(0, _set(node, ended, ast.Constant(False)))
        test = ast.Name(ended, ast.Load())
        made.append(_at(node, ast.If(test, node.orelse, [])))
    return made


def _taking(node: ast.If, rest: Block) -> ast.If | None:
    """A choice of which one side leaves, with what follows it on the other side."""
    here, there = _falls_through(node.body), _falls_through(node.orelse)
    if here and not there:
        body, orelse = [*node.body, *rest], node.orelse
    elif there and not here:
        body, orelse = node.body, [*node.orelse, *rest]
    else:
        return None
    return _at(node, ast.If(node.test, body, orelse))


def _unnested(body: Block) -> Block:
    """Statements without long chains of choices, each in the `else` of the one before:
    Python compiles few blocks inside of each other."""
    found: Block = []
    for node in body:
        if isinstance(node, ast.If) and len(_chain(node)) > _LONGEST_CHAIN:
            found += _unnested(_in_turn(node))
            continue
        for part in [] if isinstance(node, SCOPES) else _blocks(node):
            part[:] = _unnested(part)
        found.append(node)
    return found


def _chain(node: ast.If) -> list[ast.If]:
    """A choice, the one at the end of its `else`, and so on."""
    found = [node]
    while found[-1].orelse and isinstance(found[-1].orelse[-1], ast.If):
        found.append(found[-1].orelse[-1])
    return found


def _in_turn(node: ast.If) -> Block:
    """A chain of choices one after the other: a flag tells whether none was taken, and
    one whether the next is."""
    chain = _chain(node)
    none_taken, taken = (f"_traceir_{w}_{id(node)}" for w in ("open", "taken"))
    is_open, is_taken = (ast.Name(n, ast.Load()) for n in (none_taken, taken))
    made: Block = [_set(node, none_taken, ast.Constant(True))]
    before: Block = []
    for one in chain:
        test = ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), one.test))
        asked = [*before, _set(one, taken, test)]
        skipped = [_set(one, taken, ast.Constant(False))]
        made.append(_at(one, ast.If(is_open, asked, skipped)))
        body = [*one.body, _set(one, none_taken, ast.Constant(False))]
        made.append(_at(one, ast.If(is_taken, body, [])))
        before = one.orelse[:-1]
    if chain[-1].orelse:
        made.append(_at(node, ast.If(is_open, chain[-1].orelse, [])))
    return made


def _set_flags(body: Block) -> set[str]:
    """The flags that statements set."""
    return {
        node.targets[0].id
        for node in walk(body)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id.startswith("_traceir_")
        and isinstance(node.value, ast.Constant)
        and node.value.value is True
    }


def _none_of(flags: Sequence[str] | set[str]) -> ast.expr:
    names: list[ast.expr] = [ast.Name(f, ast.Load()) for f in sorted(flags)]
    some = names[0] if len(names) == 1 else ast.BoolOp(ast.Or(), names)
    return ast.UnaryOp(ast.Not(), some)


def _set(node: ast.stmt, name: str, value: ast.expr) -> ast.stmt:
    return _at(node, ast.Assign([ast.Name(name, ast.Store())], value))


def _at(node: ast.AST, made: Node) -> Node:
    return ast.fix_missing_locations(ast.copy_location(made, node))
