"""Generated source to LLVM text, in one pass.

That language is a small part of Python: functions of numbers and pointers, assignments,
`for` over a range, `while`, `if`, calls. It means what Numba makes of it, so a reader
can compile the same text with Numba; here nothing of Numba is needed. Variables become
registers at once, with a choice of registers (phi) where ways meet.

Of a step of `range` that is no number as written, it is taken that it is positive, and
of an index that it is not negative. Serves: backend.compile

A choice of two values is an instruction where both may be computed, so LLVM has little
to clean up. A loop that writes on one side of a choice is not unrolled: one jump in
several copies is foretold worse than in one, unless the choice is whether an index is a
place, as nearly all are. A test compiles every registered function,
and a function of every construct, with Numba as well, and compares the bits.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.base.python_parser import parse_module
from traceir_numba import cost_model
from traceir_numba.llvm.ir_builder import BasicBlock
from traceir_numba.llvm.safepoints import CALLEE, STOPPED, with_safepoints
from traceir_numba.llvm.statements import Names, StatementLowering, Way
from traceir_numba.llvm.symbols import Callee
from traceir_numba.llvm.types import IRValue, NotInLanguage, common, llvm_type


def lower(
    text: str,
    symbol: str,
    args: Sequence[str],
    result: str | None,
    globals: Mapping[str, Any],
    attributes: str = "",
    interleave: int = 1,
    rounds: Sequence[int] = (),
    stops: bool = False,
) -> str:
    """LLVM text that defines `symbol` as the function of that source.

    `args` and `result` are types such as "float32" and "float32*"; `globals` say what
    names are: `Callee`, `Cast`, `Bits`, `Lanes`, `Intrinsic`, `Table` or `IRValue`.
    Innermost loops that become vectors `interleave` so many of them. With the costs
    of their `rounds`, loops have safepoints. One that `stops` takes another pointer
    first, to a flag that ends it, and tells by its result that it has been ended.
    Raises NotInLanguage for what the language does not have.
    """
    (tree,) = parse_module(text).body
    if not isinstance(tree, ast.FunctionDef):
        raise NotInLanguage(type(tree).__name__)
    if stops:
        tree.args.args.insert(0, ast.arg("flag"))
        tree.body.append(ast.Return(ast.Constant(0)))
        args, result = ("int64*", *args), "int64"
    if any(cost > 0 for cost in rounds):
        with_safepoints(tree, rounds, stops)
        globals = {**globals, "safepoint": STOPPED if stops else CALLEE}
    function = _FunctionLowering(globals, result, interleave)
    function.run(tree, args)
    parameters = ", ".join(
        f"{llvm_type(t)}{' noalias' if t[-1] == '*' else ''} %a{k}"
        for k, t in enumerate(args)
    )
    of = "void" if result is None else llvm_type(result)
    b = function.builder
    first, *others = b.blocks
    lines = [f"{first.label}:", *b.stack, *first.lines]
    for block in others:
        lines += [f"{block.label}:", *block.lines]
    head = f"define {of} @{symbol}({parameters}) nounwind {attributes}{{"
    parts = [*function.tables.values(), *b.declared.values(), head, *lines, "}"]
    for k, what in enumerate(function.notes):
        parts += [f"!{2 * k} = distinct !{{!{2 * k}, !{2 * k + 1}}}"]
        parts += [f"!{2 * k + 1} = !{{{what}}}"]
    return "\n".join(parts) + "\n"


@dataclass(slots=True)
class _LoopTargets:
    """The jumps of `break` and `continue` so far."""

    breaks: list[Way]
    rounds: list[Way]


class _FunctionLowering(StatementLowering):
    """The statements of one function, with its loops."""

    def __init__(
        self, globals: Mapping[str, Any], result: str | None, interleave: int
    ) -> None:
        super().__init__(globals, result)
        self.loops: list[_LoopTargets] = []
        self.interleave = interleave
        self.notes: list[str] = []  # what LLVM is told of innermost loops

    def run(self, tree: ast.FunctionDef, args: Sequence[str]) -> None:
        for k, (a, dtype) in enumerate(zip(tree.args.args, args, strict=True)):
            self.names[a.arg] = IRValue(f"%a{k}", dtype)
        self.statements(tree.body)
        if self.open:
            if self.result is not None:
                raise NotInLanguage(f"the end of {tree.name}, without a result")
            self.builder.line("ret void")

    def other(self, node: ast.stmt) -> None:
        visit = _LOOPS.get(type(node))
        if visit is None:
            super().other(node)
        else:
            visit(self, node)

    def repeat(self, node: ast.For) -> None:
        match node:
            case ast.For(
                target=ast.Name(id=target),
                iter=ast.Call(func=ast.Name(id="range"), args=[*bounds], keywords=[]),
                orelse=[],
            ) if bounds:
                self.count(target, bounds, node.body)
            case _:
                raise NotInLanguage(f"the loop {ast.unparse(node).splitlines()[0]}")

    def count(self, target: str, nodes: list[ast.expr], body: list[ast.stmt]) -> None:
        """A loop over a range, with a counter of its own."""
        b = self.builder
        bounds = [self.value(n) for n in nodes]
        written = bounds[2].literal if len(bounds) == 3 else 1
        if written == 0:
            raise NotInLanguage("a range in steps of 0")
        low, high, step = (b.cast(v, "int64").text for v in _range(bounds))
        self.names.pop(target, None)
        test = "sgt" if written is not None and written < 0 else "slt"
        head, carried = self.enter(body)
        counter = self.register()
        more = IRValue(b.new(f"icmp {test} i64 {counter}, {high}"), "bool")
        after = self.names
        start = b.block()
        self.names = {**after, target: IRValue(counter, "int64")}
        loop = self.inside(body)
        self.meet(loop.rounds)
        following = b.new(f"add nsw i64 {counter}, {step}") if self.open else "0"
        phi = f"{counter} = phi i64 [{low}, %{carried.before.label}]"
        if self.open:
            phi += f", [{following}, %{b.at.label}]"
        head.lines.insert(0, phi)
        turns = [bound.literal for bound in bounds]
        carried.close(self, head, self.note(body, _is_short(turns)))
        exit = b.block()
        b.fork(more, start, exit, head)
        self.meet([(exit, after), *loop.breaks])
        self.names.pop(target, None)

    def loop(self, node: ast.While) -> None:
        """Lower a `while` loop; registers of carried variables meet at its head."""
        b = self.builder
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        if node.orelse:
            raise NotInLanguage("while ... else")
        head, carried = self.enter([*node.body, ast.Expr(node.test)])
        ways: list[Way] = []
        if not endless:
            test = b.truth(self.value(node.test))
            tested, after = b.at, self.names
            start = b.block()
            self.names = dict(after)
        loop = self.inside(node.body)
        self.meet(loop.rounds)
        carried.close(self, head, self.note(node.body, False))
        if not endless:
            exit = b.block()
            b.fork(test, start, exit, tested)
            ways = [(exit, after)]
        self.meet([*ways, *loop.breaks])

    def note(self, body: Sequence[ast.stmt], short: bool) -> str:
        """The note at the end of a loop, for LLVM."""
        if _has_loop(body):
            return ""
        if self._calls_kernels(body):  # whose loops would all be there many times
            what = '!"llvm.loop.unroll.disable"'
        elif self.interleave > 1:
            what = f'!"llvm.loop.interleave.count", i32 {self.interleave}'
        elif not short and _writes_by_choice(body):
            what = '!"llvm.loop.unroll.disable"'
        else:
            return ""
        if what not in self.notes:
            self.notes.append(what)
        return f", !llvm.loop !{2 * self.notes.index(what)}"

    def _calls_kernels(self, body: Sequence[ast.stmt]) -> bool:
        for node in _statements(body):
            match node:
                case ast.Expr(ast.Call(func=ast.Name(id=name))):
                    called = self.globals.get(name)
                    if isinstance(called, Callee) and called.result is None:
                        return True
        return False

    def register(self) -> str:
        """A register that is defined later."""
        self.builder.count += 1
        return f"%r{self.builder.count}"

    def enter(self, body: Sequence[ast.stmt]) -> tuple[BasicBlock, _Carried]:
        """Begin a loop: variables that its body assigns may have another value at each
        round.
        """
        b = self.builder
        before = b.at
        head = b.block()
        b.jump(before, head)
        carried = _Carried(before, {}, {})
        names = dict(self.names)
        for name in _assigned(body):
            if name in names:
                old = names[name]
                register = self.register()
                carried.first[name] = old
                carried.registers[name] = register
                names[name] = IRValue(register, old.dtype)
        self.names = names
        return head, carried

    def inside(self, body: Sequence[ast.stmt]) -> _LoopTargets:
        """The statements of a loop; its end is one of the ways to the next round."""
        loop = _LoopTargets([], [])
        self.loops.append(loop)
        self.statements(body)
        if self.open:
            loop.rounds.append((self.builder.at, self.names))
        self.loops.pop()
        return loop

    def leave(self, node: ast.Break | ast.Continue) -> None:
        loop = self.loops[-1]
        ways = loop.breaks if isinstance(node, ast.Break) else loop.rounds
        ways.append((self.builder.at, self.names))
        self.open = False


@dataclass(slots=True)
class _Carried:
    """The variables of a loop that its body assigns: first values and registers."""

    before: BasicBlock
    first: Names
    registers: dict[str, str]

    def close(
        self, function: _FunctionLowering, head: BasicBlock, note: str = ""
    ) -> None:
        """Write the phi nodes: the first values, or those of the last round."""
        b = function.builder
        lines = []
        for name, old in self.first.items():
            pairs = f"[{old.text}, %{self.before.label}]"
            if function.open:
                new = function.names.get(name)
                if new is None or common(old.dtype, new.dtype) != old.dtype:
                    raise NotInLanguage(f"{name}, which changes its type in a loop")
                pairs += f", [{b.cast(new, old.dtype).text}, %{b.at.label}]"
            kind = llvm_type(old.dtype)
            lines.append(f"{self.registers[name]} = phi {kind} {pairs}")
        head.lines[:0] = lines
        if function.open:
            b.jump(b.at, head, note)


def _range(bounds: list[IRValue]) -> tuple[IRValue, IRValue, IRValue]:
    zero, one = IRValue("0", "int64"), IRValue("1", "int64")
    match bounds:
        case [high]:
            return zero, high, one
        case [low, high]:
            return low, high, one
        case [low, high, step]:
            return low, high, step
    raise NotInLanguage("a range of more than three numbers")


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, and those within them."""
    for node in body:
        yield node
        if isinstance(node, ast.For | ast.While | ast.If):
            yield from _statements(node.body)
            yield from _statements(node.orelse)


def _has_loop(body: Sequence[ast.stmt]) -> bool:
    """True if a loop stands within statements."""
    return any(isinstance(node, ast.For | ast.While) for node in _statements(body))


def _is_short(bounds: Sequence[object]) -> bool:
    """True if a loop over a range of known ends has so few turns that LLVM may write
    them one after the other."""
    known = [int(n) for n in bounds if isinstance(n, int)]
    return len(known) == len(bounds) and len(range(*known)) <= cost_model.FEW_TURNS


def _writes_by_choice(body: Sequence[ast.stmt]) -> bool:
    """True if a side of a choice writes to memory, and which one is not foreseen."""
    inside: set[str] = set()  # names of tests that indices are places
    for node in _statements(body):
        if isinstance(node, ast.Assign) and _is_inside(node.value, inside):
            inside.update(t.id for t in _targets(node) if isinstance(t, ast.Name))
    return any(
        isinstance(target, ast.Subscript)
        for node in _statements(body)
        if isinstance(node, ast.If) and not _is_inside(node.test, inside)
        for one in _statements([*node.body, *node.orelse])
        for target in _targets(one)
    )


def _is_inside(test: ast.expr, inside: Container[str]) -> bool:
    """True for the test that indices are places, which nearly all are."""
    match test:
        case ast.Name(id=name):
            return name in inside
        case ast.Call(func=ast.Name(id=name)):
            return name == "is_place"
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            return _is_inside(left, inside) and _is_inside(right, inside)
    return False


def _targets(node: ast.stmt) -> list[ast.expr]:
    """The targets of an assignment or a loop, the parts of a tuple one by one."""
    match node:
        case ast.Assign(targets=targets):
            found = targets
        case ast.AugAssign(target=target) | ast.For(target=target):
            found = [target]
        case _:
            return []
    return [x for t in found for x in (t.elts if isinstance(t, ast.Tuple) else [t])]


def _assigned(body: Sequence[ast.stmt]) -> dict[str, None]:
    """The variables that statements assign, in order."""
    return {
        target.id: None
        for node in _statements(body)
        for target in _targets(node)
        if isinstance(target, ast.Name)
    }


_LOOPS: dict[type[ast.stmt], Callable[[_FunctionLowering, Any], None]] = {
    ast.For: _FunctionLowering.repeat,
    ast.While: _FunctionLowering.loop,
    ast.Break: _FunctionLowering.leave,
    ast.Continue: _FunctionLowering.leave,
}
