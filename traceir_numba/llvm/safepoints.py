"""Safepoints: where a routine checks for interrupts.

Python's handlers of signals run between the instructions of its main thread, which a
routine keeps in machine code. So loops count what they have computed, as the schedule
has it, and when that is a budget they look at the clock; ten times a second they let
Python handle what has come. If that raises, the routine ends at once: whoever has
called it raises, and nothing reads what it has left.

A kernel that computes much is called for pieces of its range, in a routine as outside,
and a large product for some of its rows. Where an iteration is cheap, the count is
taken once for many; threads other than the main one only look at what it has found.
What a library computes in one call, such as a sort, runs to its end, as does a large
product inside a loop, or one line of a fold.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count

from traceir.base.python_parser import parse_module
from traceir_numba import cost_model
from traceir_numba.llvm import optimize
from traceir_numba.llvm.symbols import Callee
from traceir_numba.runtime.external_symbols import provided

SYMBOL = "traceir_safepoint"
CALLEE = Callee(SYMBOL, ("int64",), "int64")
# The same where a flag tells that another thread has raised.
STOPPED = Callee("traceir_stoppable_safepoint", ("int64", "int64*"), "int64")
NEEDS = (
    "traceir_clock",
    "traceir_lock",
    "traceir_unlock",
    "traceir_handle_signals",
)

# What time it was when signals were last looked for, or -1 where one has raised.
TEXT = """
declare i32 @traceir_clock(i32, ptr)
declare i32 @traceir_lock()
declare void @traceir_unlock(i32)
declare i32 @traceir_handle_signals()
define i64 @{symbol}(i64 %last) nounwind {{
  %time = alloca [2 x i64]
  {read_clock}
  %first = icmp eq i64 %last, 0
  br i1 %first, label %begin, label %again
begin:
  ret i64 %now
again:
  %since = sub i64 %now, %last
  %soon = icmp slt i64 %since, {period}
  br i1 %soon, label %later, label %look
later:
  ret i64 %last
look:
  %state = call i32 @traceir_lock()
  %raised = call i32 @traceir_handle_signals()
  call void @traceir_unlock(i32 %state)
  %stop = icmp ne i32 %raised, 0
  %found = select i1 %stop, i64 -1, i64 %now
  ret i64 %found
}}
"""
READ_CLOCK = """
  call i32 @traceir_clock(i32 {clock}, ptr %time)
  %{name}_seconds = load i64, ptr %time
  %{name}_at_rest = getelementptr i64, ptr %time, i64 1
  %{name}_rest = load i64, ptr %{name}_at_rest
  %{name}_whole = mul i64 %{name}_seconds, 1000000000
  %{name} = add i64 %{name}_whole, %{name}_rest
"""
# What a safepoint is in a program without Python.
NEVER = f"define i64 @{SYMBOL}(i64 %last) nounwind {{\n  ret i64 %last\n}}\n"

BEGIN = "budget_left = {budget}\nasked_at = 0"
POLL = """
budget_left = budget_left - {cost}
if budget_left < 0:
    asked_at = safepoint(asked_at)
    if asked_at < 0:
        return
    budget_left = {budget}
"""


def can_poll() -> bool:
    """True if the system has a clock, and Python its functions."""
    return hasattr(time, "CLOCK_MONOTONIC") and all(map(provided, NEEDS))


def read_clock(name: str) -> str:
    """LLVM text that gives the time in nanoseconds a name; %time is memory for it."""
    lines = READ_CLOCK.format(name=name, clock=getattr(time, "CLOCK_MONOTONIC", 0))
    return lines.strip()


def load() -> optimize.MachineCode:
    """The function that safepoints call, for its holders."""
    period = cost_model.SAFEPOINT_PERIOD
    text = TEXT.format(symbol=SYMBOL, read_clock=read_clock("now"), period=period)
    return optimize.link([text], [SYMBOL])


def with_safepoints(
    tree: ast.FunctionDef, costs: Iterable[int], stops: bool = False
) -> None:
    """Put safepoints in a function's loops.

    `costs` are what a round of each loop costs, in the order of the text; 0 for loops
    that end soon, less than 0 for those that do after an unknown number of rounds:
    where a loop around them polls, they count their rounds for it. A function that
    `stops` looks at a flag, too, and tells when it has been ended.
    """
    _Safepoints(costs).visit(tree)
    if stops:
        _Stops().visit(tree)
    tree.body[:0] = parse_module(BEGIN.format(budget=cost_model.SAFEPOINT_WORK)).body


class _Safepoints(ast.NodeTransformer):
    def __init__(self, costs: Iterable[int]) -> None:
        self.costs: Iterator[int] = iter(costs)
        self.polled = False  # by a loop around
        self.flags = (f"has_ended_{k}" for k in count())

    def inside(self, node: ast.While | ast.For) -> int:
        """The cost of a round of a loop, whose own loops have got their safepoints; 0
        if it needs none."""
        cost, polled = next(self.costs), self.polled
        self.polled = polled or cost > 0
        self.generic_visit(node)
        self.polled = polled
        return cost if polled else max(cost, 0)

    def visit_While(self, node: ast.While) -> ast.While:
        """The loop with a poll in each iteration, or after many of an innermost one."""
        cost = self.inside(node)
        if cost > 0 and not _has_loop(node):
            _poll_after_many(node, cost, next(self.flags))
        elif cost:
            node.body += _poll(abs(cost))[: 2 if cost > 0 else 1]
        return node

    def visit_For(self, node: ast.For) -> ast.For | list[ast.stmt]:
        """The loop with a poll in each iteration, or after each part of its range."""
        cost = self.inside(node)
        if not cost:
            return node
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        texts = [ast.unparse(arg) for arg in node.iter.args]
        first, end, step = ("0", *texts, "1") if len(texts) == 1 else (*texts, "1")[:3]
        if cost < 0:
            each = max(-cost // int(step), 1)
            return [_poll(f"({end} - {first}) * {each}")[0], node]
        rounds = cost_model.SAFEPOINT_WORK // cost
        with suppress(ValueError):
            bounds = range(*map(ast.literal_eval, texts))
            rounds = min(len(bounds), rounds)
            first, end, step = str(bounds.start), str(bounds.stop), str(bounds.step)
        if rounds <= 1:
            node.body += _poll(cost)
            return node
        flag = next(self.flags)
        return _in_parts(node, flag, (first, end, int(step)), rounds, cost)


class _Stops(ast.NodeTransformer):
    """Has safepoints look at a flag, and the function return -1 where they end it."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """A call, perhaps of a safepoint."""
        if isinstance(node.func, ast.Name) and node.func.id == "safepoint":
            node.args.append(ast.Name("flag", ast.Load()))
        return node

    def visit_Return(self, node: ast.Return) -> ast.Return:
        """The end of the function."""
        return node if node.value else ast.Return(ast.Constant(-1))


def _has_loop(node: ast.While) -> bool:
    return any(
        isinstance(n, ast.For | ast.While) for n in ast.walk(node) if n is not node
    )


def _poll_after_many(node: ast.While, cost: int, flag: str) -> None:
    """Let a loop be one over parts of so many rounds; a round may end it."""
    rounds = max(1, cost_model.SAFEPOINT_WORK // cost)
    begin, part = parse_module(
        f"rounds_done = 0\nfor part in range({rounds}):\n    rounds_done = part + 1"
    ).body
    assert isinstance(part, ast.For)
    part.body += node.body
    node.body = [begin, *_ending(part, flag, f"rounds_done * {cost}")]


def _ending(part: ast.For, flag: str, cost: str) -> list[ast.stmt]:
    """A loop over a part of another one's rounds, and a poll after it; where it breaks,
    it ends that, too."""
    breaks = _Breaks(flag)
    breaks.generic_visit(part)
    if not breaks.count:
        return [part, *_poll(cost)]
    begin, end = parse_module(f"{flag} = False\nif {flag}:\n    break").body
    return [begin, part, *_poll(cost), end]


class _Breaks(ast.NodeTransformer):
    """Has the breaks of one loop set a flag."""

    def __init__(self, flag: str) -> None:
        self.flag = flag
        self.count = 0

    def visit_Break(self, node: ast.Break) -> list[ast.stmt]:
        """A break of this loop."""
        self.count += 1
        return [*parse_module(f"{self.flag} = True").body, node]

    def visit_For(self, node: ast.For) -> ast.For:
        """Another loop, with breaks of its own."""
        return node

    def visit_While(self, node: ast.While) -> ast.While:
        """Another loop, with breaks of its own."""
        return node


def _poll(cost: int | str) -> list[ast.stmt]:
    """The count of what has been computed, and a look at the clock if that is much."""
    text = POLL.format(cost=cost, budget=cost_model.SAFEPOINT_WORK)
    return parse_module(text).body


def _in_parts(
    node: ast.For, flag: str, bounds: tuple[str, str, int], rounds: int, cost: int
) -> ast.For:
    """A loop over parts of so many rounds, so that the inner one can be vectors."""
    assert isinstance(node.target, ast.Name)
    start, end, every = bounds
    name = node.target.id
    step = every * rounds
    first, last = f"{name}_first", f"{name}_last"
    if end.lstrip("-").isdigit():
        compare = "<" if step > 0 else ">"
        part = f"{first} + {step} if {first} + {step} {compare} {end} else {end}"
    else:  # the stop may be near the greatest integer; steps are positive
        part = f"{first} + {step} if {end} - {first} > {step} else {end}"
    (outer,) = parse_module(
        f"for {first} in range({start}, {end}, {step}):\n"
        f"    {last} = {part}\n"
        f"    for {name} in range({first}, {last}, {every}):\n"
        "        pass"
    ).body
    assert isinstance(outer, ast.For) and isinstance(outer.body[1], ast.For)
    outer.body[1].body = node.body
    # A short loop inside another one costs what its rounds do, not a whole part.
    done = f"({last} - {first}) * {cost // every or 1}"
    outer.body[1:] = _ending(outer.body[1], flag, done)
    return outer
