"""Random functions whose lists grow: choices and loops in each other, and what is left.

A function has an array of six numbers as its argument, two lists, and a sum of what it
reads in them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

LISTS = ("out", "res")


class _Writer:
    """The lines of one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0

    def name(self, letter: str) -> str:
        """A new name."""
        self.count += 1
        return f"{letter}{self.count}"

    def line(self, depth: int, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * depth + text)

    def test(self, numbers: Sequence[str]) -> str:
        """A condition on a number, or on a list's length."""
        choose, limit = self.random.choice, self.random.randint(0, 9) / 10
        length = f"len({choose(LISTS)}) < {self.random.randint(1, 6)}"
        number = choose(numbers)
        return choose([f"{number} > {limit}", f"{number} < {limit}", length])

    def block(
        self, depth: int, numbers: Sequence[str], loops: int, budget: int
    ) -> None:
        """Write some statements; `numbers` are what they may use."""
        for _ in range(self.random.randint(1, 3)):
            kind, grown = self.random.random(), self.random.choice(LISTS)
            if kind < 0.35 or budget == 0:
                number = self.random.choice([*numbers, "float(total)"])
                self.line(depth, f"{grown}.append({number} * 2.0)")
            elif kind < 0.6:
                self.line(depth, f"if {self.test(numbers)}:")
                self.block(depth + 1, numbers, loops, budget - 1)
                if self.random.random() < 0.5:
                    self.line(depth, "else:")
                    self.block(depth + 1, numbers, loops, budget - 1)
            elif kind < 0.78 and loops < 2:
                value, index = self.name("v"), self.name("i")
                stop = self.random.choice(["len(x)", "3", "5"])
                self.line(depth, f"for {index} in range({stop}):")
                self.line(depth + 1, f"{value} = x[{index}]")
                self.block(depth + 1, [*numbers, value], loops + 1, budget - 1)
            elif kind < 0.81 and loops < 2:
                left = self.name("n")
                self.line(depth, f"{left} = {self.random.randint(0, 4)} + (total > 2)")
                self.line(depth, f"while {left} > 0:")
                self.line(depth + 1, f"{left} -= 1")
                self.block(depth + 1, numbers, loops + 1, budget - 1)
            elif kind < 0.86 and loops:
                self.line(depth, f"if {self.test(numbers)}:")
                self.line(depth + 1, self.random.choice(["break", "continue"]))
            elif kind < 0.93:
                self.line(depth, f"if {self.random.choice(['', 'len'])}({grown}):")
                taken = [f"{grown}[-1]", f"{grown}.pop()", f"{grown}.pop(0)"]
                taken += [f"max({grown}[::2])", f"({numbers[0]} in {grown})"]
                change = f"{grown}[-1] = {numbers[-1]} + 1.0"
                added = f"total += {self.random.choice(taken)}"
                self.line(depth + 1, self.random.choice([added, added, change]))
            else:
                value = self.name("w")
                self.line(depth, f"for {value} in {grown}:")
                self.line(depth + 1, f"total += {value}")


def program(seed: int) -> str:
    """The text of a module with a function `f`.

    >>> print(program(3))  # doctest: +ELLIPSIS
    import numpy as np
    <BLANKLINE>
    def f(x):
        out, res = [], []
        total = 0.0
    ...
        return np.array(out), res, len(out), total
    <BLANKLINE>
    """
    writer = _Writer(seed)
    writer.lines = ["import numpy as np", "", "def f(x):"]
    writer.line(1, "out, res = [], []")
    writer.line(1, "total = 0.0")
    writer.block(1, ["x[0]", "x[1]"], 0, 4)
    writer.block(1, ["x[2]", "x[3]"], 0, 3)
    writer.line(1, "return np.array(out), res, len(out), total")
    return "\n".join(writer.lines) + "\n"
