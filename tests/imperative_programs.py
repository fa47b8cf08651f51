"""Random imperative programs: functions of Python's loops and choices, as text.

Numbers stay small and are multiples of a quarter, so that arithmetic is exact in any
order. A name has numbers of one kind, or arrays of one shape; it may have no value yet
where it is read, and a place may be outside of its array, which are errors of Python's.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from traceir.jit.function import JitFunction, Options
from traceir_numba.compat import prange

# Gives one of some options.
Pick = Callable[[Sequence[Any]], Any]
LENGTH, ROWS = 5, 3
INTS, FLOATS, ARRAYS = ("p", "q", "r"), ("x", "y", "z"), ("a", "d", "e")
HELPERS = """
def total(s, count):
    found = 0.0
    for k in range(count):
        if s[k % 5] > 4:
            continue
        found += s[k % 5]
    return found % 16.0


def bump(s, k, value):
    if value < 0:
        return k
    while k < 5:
        s[k] = (s[k] + value) % 16.0
        k += 2
    return k


"""


class ProgramWriter:
    """Writes one program, choice by choice."""

    def __init__(self, pick: Pick) -> None:
        self.pick = pick
        self.lines: list[str] = []
        self.depth = 1
        self.loops = 0
        self.budget = 14
        # Names that have a value here, and those that may have one.
        self.bound = {"a", "b", "c", "n", "t"}
        self.maybe: set[str] = set()
        self.indices: list[str] = []
        self.count = itertools.count()

    def text(self) -> str:
        """The program: `f(a, b, c, n, t)`, and the functions that it calls."""
        for name in ("p", "x", "d"):
            self.assign(name)
        self.block(self.pick((3, 4, 5, 6)))
        self.say(f"return {self.result()}")
        return HELPERS + "\n".join(["def f(a, b, c, n, t):", *self.lines, ""])

    def say(self, line: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.depth + line)

    def result(self) -> str:
        """The values returned: each time of the same types."""
        return f"{self.whole()}, {self.real()}, {self.array()}"

    # Statements -------------------------------------------------------------------

    def block(self, count: int) -> None:
        """Some statements."""
        for _ in range(count):
            self.budget -= 1
            simple = (self.scalar, self.scalar, self.store, self.store, self.arrays)
            nested = (self.choice, self.counted, self.counted, self.waiting)
            self.pick(
                simple if self.budget < 0 or self.depth > 4 else simple + nested
            )()

    @contextmanager
    def inside(self) -> Iterator[None]:
        """A block that may not run."""
        before, maybe = set(self.bound), set(self.maybe)
        self.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.say("pass")
        self.depth -= 1
        self.maybe = maybe | self.maybe | (self.bound - before)
        self.bound = before

    def assign(self, name: str) -> None:
        """Bind a name."""
        if name in INTS:
            self.say(f"{name} = {self.whole(2)} % 61")
        elif name in FLOATS:
            self.say(f"{name} = {self.real(2)} % 16.0")
        else:
            self.say(f"{name} = {self.new_array()}")
        self.bound.add(name)

    def scalar(self) -> None:
        """Set a number, or two, or change one."""
        names = self.pick((INTS, FLOATS))
        name, other = self.pick(names), self.pick(names)
        small = self.small(names is FLOATS)
        both = {name, other} <= self.bound
        match self.pick((0, 1, 2, 3, 4)):
            case 0 if name in self.bound:
                self.say(f"{name} {self.pick(('+=', '-='))} {small}")
            case 1 if name in self.bound:
                # Of a float and an integer the result has either type.
                least = f"{small} + 0.0" if names is FLOATS else small
                self.say(f"{name} = max({name}, {least})")
            case 2 if both and name != other:
                self.say(f"{name}, {other} = {other}, {name}")
            case 3 if both and name != other:
                value = self.real() if names is FLOATS else self.whole()
                self.say(f"{name}, {other} = {other}, ({value}) % 16")
            case _:
                self.assign(name)

    def store(self) -> None:
        """Write to an array: at a place, or to a slice."""
        to, value = self.array(), f"{self.real()} % 16.0"
        lines = (
            f"{to}[{self.place()}] = {value}",
            f"{to}[{self.place()}] += {self.small(True)}",
            f"b[{self.place()}] = {self.whole()} % 61",
            f"c[{self.whole()} % 3, {self.place()}] = {value}",
            f"c[{self.whole()} % 3][{self.place()}] -= {self.small(True)}",
            f"{to}[1:4] = {self.array()}[0:3]",
            f"{to}[:] = {self.array()} % 8.0 + {self.real()} % 4.0",
            f"{to}[:3] += {self.small(True)}",
            f"{to}[::2] = {value}",
            f"c[{self.whole()} % 3] = {self.array()}",
            f"c[:, {self.place()}] = {value}",
            f"{to}[{self.array()} > {self.small(True)}] = {value}",
        )
        self.say(self.pick(lines))

    def arrays(self) -> None:
        """Names of arrays: another name, another array, an exchange, a helper."""
        name, other = self.pick(ARRAYS), self.pick(ARRAYS)
        match self.pick((0, 1, 2, 3, 4)):
            case 0 if name != other and {name, other} <= self.bound:
                self.say(f"{name}, {other} = {other}, {name}")
            case 1 if "p" in self.bound:
                place = f"{self.whole()} % 5"
                self.say(f"p = bump({self.array()}, {place}, {self.small(True)})")
            case 2 if "x" in self.bound:
                self.say(f"x = total({self.array()}, {self.whole()} % 7)")
            case 3 if name != "a" or self.loops == 0:
                self.say(f"{name} = {self.array()}")
                self.bound.add(name)
            case _:
                self.assign(self.pick(("d", "e")))

    def choice(self) -> None:
        """An `if`, with what follows."""
        self.say(f"if {self.test()}:")
        with self.inside():
            self.block(self.pick((1, 2, 3)))
            self.jump()
        for head in self.pick(((), ("else:",), ("elif", "else:"), ("elif",))):
            self.say(f"elif {self.test()}:" if head == "elif" else head)
            with self.inside():
                self.block(self.pick((1, 2)))
                self.jump()

    def jump(self) -> None:
        """Perhaps leave, or an assertion."""
        kinds = ["", "", "", "", f"return {self.result()}", f"assert {self.test()}"]
        if self.loops:
            kinds += ["break", "continue", "continue", "break"]
        if line := self.pick(kinds):
            self.say(line)

    def counted(self) -> None:
        """A `for` loop."""
        index = f"{self.pick('ijk')}{self.pick((1, 2))}"
        if index in self.indices:
            index = f"i{next(self.count) + 3}"
        value = self.pick(FLOATS)
        spans = [
            *("n", "n + 2", "5", "6", "len(a)", "2", f"{self.whole()} % 4", "1, n"),
            *("4, -1, -1", "n, 0, -2", "0, 5, 2", f"{self.whole()} % 5, 5"),
        ]
        heads = (
            *[f"for {index} in range({span}):" for span in spans],
            f"for {value} in {self.array()}:",
            f"for {index}, {value} in enumerate({self.array()}):",
            f"for {index} in b:",
            f"for {index}, {value} in zip(range(1, 5), {self.array()}):",
            f"for {index} in reversed(range(n)):",
        )
        head = self.pick(heads)
        self.say(head)
        self.body([n for n in (index, value) if f" {n} in" in head or f" {n}," in head])

    def waiting(self) -> None:
        """A `while` loop, which a counter of its own ends."""
        index = f"w{next(self.count)}"
        self.say(f"{index} = {self.small(False)}")
        self.bound.add(index)
        test = self.pick(("", f"{self.test()} and ", f"not {self.test()} and "))
        self.say(f"while {test}{index} < {self.pick(('7', 'n + 1', '4'))}:")
        self.depth += 1
        self.say(f"{index} += {self.pick((1, 2))}")
        self.depth -= 1
        self.body([index])

    def body(self, names: Sequence[str]) -> None:
        """The body of a loop, and perhaps its `else`."""
        with self.inside():
            self.loops += 1
            self.bound.update(names)
            own = [n for n in names if n not in FLOATS]
            self.indices += own
            self.block(self.pick((1, 2, 3)))
            del self.indices[len(self.indices) - len(own) :]
            self.loops -= 1
        if self.pick((False, False, False, True)):
            self.say("else:")
            with self.inside():
                self.block(1)

    # Expressions ------------------------------------------------------------------

    def named(self, names: Sequence[str]) -> str:
        """A name that has a value, or rarely one that may have none."""
        sure = [name for name in names if name in self.bound]
        unsure = [name for name in names if name in self.maybe - self.bound]
        if unsure and self.pick((False,) * 7 + (True,)):
            return str(self.pick(unsure))
        return str(self.pick(sure)) if sure else ""

    def small(self, real: bool) -> str:
        """A number that does not grow with the program."""
        found = [*"0123", "n", *self.indices[-2:]]
        return str(self.pick([*found, "0.25", "1.5", "-2.0", "t"] if real else found))

    def whole(self, depth: int = 1) -> str:
        """An integer."""
        leaves = (self.small(False), self.named(INTS), f"b[{self.place(0)}]", "len(a)")
        leaf = str(self.pick([found for found in leaves if found]))
        if depth == 0:
            return leaf
        inner = self.whole(depth - 1)
        forms = (
            f"({leaf} + {inner})",
            f"({leaf} - {inner})",
            f"({inner} * {self.pick((2, 3, -1))})",
            f"({inner} // 2)",
            f"min({leaf}, {inner})",
            f"abs({inner})",
            f"({leaf} if {self.test()} else {inner})",
            f"int({self.real(0)})",
        )
        return str(self.pick((leaf, leaf, *forms)))

    def real(self, depth: int = 1) -> str:
        """A float."""
        array = f"{self.array()}[{self.place(0)}]"
        leaves = (
            self.named(FLOATS),
            array,
            f"c[{self.pick((0, 1, 2))}, {self.place(0)}]",
        )
        leaf = str(self.pick([found for found in (*leaves, "0.5", "t") if found]))
        if depth == 0:
            return leaf
        inner = self.real(depth - 1)
        forms = (
            f"({leaf} + {inner})",
            f"({leaf} - {self.whole(0)})",
            f"({inner} * {self.pick((2, 3, -1))})",
            f"(-{inner})",
            f"max({leaf}, {inner})",
            f"abs({inner})",
            f"({leaf} if {self.test()} else {inner})",
            f"np.sum({self.array()}[1:4])",
            f"float({self.whole(0)})",
        )
        return str(self.pick((leaf, leaf, *forms)))

    def test(self, depth: int = 1) -> str:
        """A truth value."""
        sign = self.pick(("<", ">", "<=", "==", "!="))
        forms = [
            f"{self.whole(0)} {sign} {self.small(False)}",
            f"{self.real(0)} {sign} {self.small(True)}",
            f"{self.whole(0)} % 2 == {self.pick((0, 1))}",
            f"0 < {self.real(0)} <= {self.pick((3, 5))}",
        ]
        if depth:
            one, other = self.test(0), self.test(0)
            forms += [f"({one} and {other})", f"({one} or {other})", f"(not {one})"]
        return str(self.pick(forms))

    def place(self, depth: int = 1) -> str:
        """An index into five elements, which is rarely outside of them."""
        inside = [f"({index}) % 5" for index in (*self.indices[-2:], "n")]
        other = [f"{self.pick((0, 1, 2, 3, 4, -1, -2))}", *inside, *inside]
        if depth:
            other += [f"({self.whole(0)}) % 5", f"({self.named(INTS) or 'n'}) % 5"]
            other += self.indices[-1:]
        return str(self.pick(other))

    def array(self) -> str:
        """An array of five floats."""
        return self.named(ARRAYS)

    def new_array(self) -> str:
        """An array of five floats that nothing else has."""
        old = self.array()
        full = f"np.full(5, {self.small(True)} + 0.0)"
        forms = ("np.zeros(5)", f"{old}.copy()", f"{old} % 4.0", full)
        return str(self.pick(forms))


# Running them -------------------------------------------------------------------------

_numbers = itertools.count()


def function_of(text: str, name: str = "f") -> Callable[..., Any]:
    """The function of this name that a text defines, whose source Python finds."""
    file = f"<program {next(_numbers)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope: dict[str, Any] = {"np": np, "prange": prange}
    exec(compile(text, file, "exec"), scope)
    found: Callable[..., Any] = scope[name]
    return found


def arguments(pick: Pick) -> tuple[Any, ...]:
    """Arguments of a program."""
    quarters = [0.0, 0.25, -1.5, 2.0, 3.75, 5.0, -4.0]
    floats = [pick(quarters) for _ in range((1 + ROWS) * LENGTH)]
    a, c = np.array(floats[:LENGTH]), np.array(floats[LENGTH:]).reshape(ROWS, LENGTH)
    b = np.array([pick((0, 1, 2, 3, -1, 7)) for _ in range(LENGTH)])
    return a, b, c, pick((0, 1, 3, 5, 7)), pick((0.5, 2.0, -1.25))


def jitted(function: Callable[..., Any], backend: str) -> Callable[..., Any]:
    """A plain function under `jit` with a backend."""
    options = Options(backend=backend, face="numpy", x64=True, numpy_out=True)
    return JitFunction(function, None, None, options)


ERRORS = (UnboundLocalError, IndexError, AssertionError)


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a call, and its arguments after it: dtypes and bits; or the class
    of the exception, one that such a program may raise."""
    given = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
    try:
        found = function(*given)
    except ERRORS as error:
        return next(kind for kind in ERRORS if isinstance(error, kind))
    return shown(found), shown([a for a in given if isinstance(a, np.ndarray)])


def shown(value: Any) -> Any:
    """A result with the dtype and the bits of each number."""
    if isinstance(value, (tuple, list)):
        return [*map(shown, value)]
    if value is None or isinstance(value, str):
        return value
    array = np.asarray(value)
    return array.dtype.name, array.shape, array.tobytes()
