"""Calls with holes: each line of ``calls/*.txt`` is an expression to be filled in.

An array hole is a kind and the letters of its extents (``F_mn``; a digit is an extent;
without letters the shapes of a call broadcast, ``_s`` has them equal, ``_0`` is a
scalar). Keywords are optional unless ``NEED`` is around their value; ``PICK`` takes one
of its arguments. The kinds stand in `inputs.KINDS`, the other holes in `CHOICES`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

from data_lines import data_lines

from against_jax.inputs import (
    EXTENTS,
    KINDS,
    LAYOUTS,
    SHAPES,
    Input,
    Shape,
    Values,
    dtypes,
)

ARRAY = re.compile(r"([A-Z])(?:_([a-z0-9]+))?")
CALLS = Path(__file__).parent / "calls"
NUMBERS = ("0", "1", "2", "-1", "3", "0.5", "2.0", "-1.5", "True", "1j", "jnp.nan")
DTYPES = ("jnp.float32", "jnp.int32", "jnp.float16", "jnp.bfloat16", "jnp.complex64")
MORE = ("jnp.uint8", "jnp.int8", "bool", "float", "int", '"uint32"', "np.int16")
WIDE = ("jnp.float64", "jnp.int64", "jnp.complex128", '"uint64"')

CHOICES: Mapping[str, Sequence[str]] = {
    "SHAPE": ("(2, 3)", "(3,)", "3", "()", "(2, 1)", "(0,)", "(1, 3)", "(2, 2, 3)"),
    "DTYPE": (*DTYPES, *MORE, *WIDE),
    "FDTYPE": (*DTYPES[:1], *DTYPES[2:4], "float", "jnp.float64"),
    "GDTYPE": (*DTYPES[:1], *DTYPES[2:], "float", "complex", "jnp.float64"),
    "IDTYPE": ("jnp.int32", "jnp.uint8", "int", "jnp.int64", "jnp.int16"),
    "BOOL": ("True", "False"),
    "INT": ("0", "1", "-1", "2", "-2", "3"),
    "NAT": ("0", "1", "2", "3", "4", "5"),
    "NUM": NUMBERS,
    "FLOAT": ("0.5", "1.0", "2.0", "0.125"),
    "MODE": ('"clip"', '"fill"', '"drop"', '"wrap"', "None", '"promise_in_bounds"'),
    "PADMODE": (
        *('"constant"', '"edge"', '"reflect"', '"symmetric"', '"wrap"', '"maximum"'),
        *('"mean"', '"minimum"', '"median"', '"linear_ramp"', '"empty"'),
    ),
    "ORDER": ('"C"', '"F"', '"A"', '"K"'),
    "NORM": ('"ortho"', '"forward"', '"backward"', "None"),
    "METHOD": ('"linear"', '"lower"', '"higher"', '"midpoint"', '"nearest"'),
    "QUANTILE": ("0.5", "0.25", "jnp.array([0.25, 0.75])", "1", "0"),
    "PERCENT": ("50", "25.0", "jnp.array([25.0, 75.0])", "100", "0"),
    "KEY": ("jax.random.key(0)", "jax.random.PRNGKey(7)", "jax.random.key(3)"),
}


@cache
def calls() -> Mapping[str, tuple[str, ...]]:
    """The lines of each file of calls, by its name."""
    return {path.stem: tuple(data_lines(path)) for path in sorted(CALLS.glob("*.txt"))}


@dataclass
class Filler:
    """Fills the holes of the calls of one program; inputs are collected on the way."""

    random: Random
    wide: bool
    special: bool
    lead: int = 0  # an extent before the shapes of mapped inputs, 0 for none
    inputs: list[Input] = field(default_factory=list)
    mapped: list[bool] = field(default_factory=list)
    base: Shape = ()
    extents: dict[str, int] = field(default_factory=dict)
    dtype: dict[str, str] = field(default_factory=dict)

    def fill(self, line: str, last: str = "", rank: int | None = None) -> str:
        """The line with every hole filled."""
        self.base = self.random.choice(SHAPES)
        if rank is not None:
            self.base = self.base[:rank]
        self.extents = {}
        tree = ast.parse(line, mode="eval")
        filled = _Fill(self, last, _objects(tree)).visit(tree)
        return ast.unparse(filled)

    def array(self, kind: str, letters: str | None, numpy: bool) -> str:
        """The name of a new input; or a Python number, where any number will do."""
        loose = letters in (None, "s", "0")
        if loose and numpy and kind in "ANRFIG" and self.random.random() < 0.1:
            return self._python(kind)
        shape = self._shape(letters)
        self.mapped.append(bool(self.lead) and self.random.random() < 0.7)
        if self.mapped[-1]:
            shape = (self.lead, *shape)
        dtype = self._dtype(kind)
        values = Values(self.random, kind, dtype, self.special).array(shape)
        layout = self.random.choice(LAYOUTS) if numpy else "array"
        if dtype == "bfloat16":
            layout = "array"
        self.inputs.append(Input(values, dtype, shape, layout))
        return f"x{len(self.inputs) - 1}"

    def _python(self, kind: str) -> str:
        pools = {"I": ("2", "-1", "0"), "R": ("2", "0.5", "True", "-1.5")}
        pools["F"] = pools["G"] = ("2.0", "0.5", "-1.5")
        text = self.random.choice(pools.get(kind, NUMBERS[:-1]))
        if self.random.random() < 0.6:
            return text
        self.mapped.append(False)
        self.inputs.append(Input(ast.literal_eval(text), ""))
        return f"x{len(self.inputs) - 1}"

    def _dtype(self, kind: str) -> str:
        wide = self.wide or self.random.random() < 0.03
        group = self.random.choice(KINDS[kind])
        if group in self.dtype and self.random.random() < 0.7:
            return self.dtype[group]
        dtype = self.random.choice(dtypes(group, wide))
        if kind in "SM" and dtype in ("float16", "bfloat16"):
            dtype = "float32"
        return self.dtype.setdefault(group, dtype)

    def _shape(self, letters: str | None) -> Shape:
        if letters == "s":
            return self.base
        if letters == "0":
            return ()
        if letters is not None:
            return tuple(self._extent(letter) for letter in letters)
        chance = self.random.random()
        if not self.inputs or chance < 0.6:
            return self.base
        if chance < 0.75:
            return ()
        if chance < 0.95:
            squeezed = [n if self.random.random() < 0.6 else 1 for n in self.base]
            return tuple(squeezed[self.random.randrange(len(squeezed) + 1) :])
        return self.random.choice(SHAPES)

    def _extent(self, letter: str) -> int:
        if letter.isdigit():
            return int(letter)
        if letter not in self.extents:
            rare = self.random.random()
            self.extents[letter] = 0 if rare < 0.03 else self.random.choice(EXTENTS)
        if self.random.random() < 0.02:
            return self.random.choice(EXTENTS)
        return self.extents[letter]

    def choice(self, name: str, rank: int) -> str:
        """Text for a hole that is no array."""
        if name in CHOICES:
            return self.random.choice(CHOICES[name])
        return DRAWN[name](self.random, rank)


def _axis(random: Random, rank: int) -> str:
    if random.random() < 0.1:
        return "None"
    wide = 1 if random.random() < 0.08 else 0
    return str(random.randint(-rank - wide, max(rank - 1 + wide, -rank - wide)))


def _axes(random: Random, rank: int) -> str:
    chance = random.random()
    if chance < 0.15:
        return "None"
    if chance < 0.65 or rank == 0:
        return _axis(random, rank) if chance < 0.6 else "()"
    count = random.randint(1, rank)
    axes = random.sample(range(rank), count)
    chosen = [axis - rank if random.random() < 0.3 else axis for axis in axes]
    return repr(tuple(chosen))


def _perm(random: Random, rank: int) -> str:
    axes = random.sample(range(rank), rank)
    return repr(tuple(axes if random.random() < 0.95 else axes[1:]))


# The rarer ones, which are mostly errors, come last.
INDICES = (
    """
0 | 1 | -1 | 2 | -3 | 5 | : | : | ::2 | ::-1 | 1: | :-1 | -2: | 5:1 | 1:2 | 3:0:-1
None | ... | np.array([0, 1]) | jnp.array([1, 0]) | np.array([[0], [-1]])
jnp.array([5, -7]) | jnp.array(1) | np.int8(1) | True | False
np.array([True, False]) | [0, 1] | 1.0 | jnp.array([], int)
np.array([True, False, True]) | slice(None) | np.uint8(1)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
COMMON = INDICES[:24]


def _index(random: Random, rank: int) -> str:
    parts = [
        random.choice(COMMON if random.random() < 0.9 else INDICES)
        for _ in range(random.randint(1, max(rank, 1)))
    ]
    if parts.count("...") > 1 and random.random() < 0.9:
        parts = [":" if part == "..." else part for part in parts]
    return ", ".join(parts)


DRAWN: Mapping[str, Callable[[Random, int], str]] = {
    "AXIS": _axis,
    "AXES": _axes,
    "PERM": _perm,
    "INDEX": _index,
}


def _objects(tree: ast.AST) -> frozenset[int]:
    """Nodes whose own methods and operators are called: they must be JAX arrays."""
    found: list[ast.AST] = []
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                found.append(value)
            case ast.BinOp(left=left, right=right):
                found += [left, right]
            case ast.UnaryOp(operand=operand):
                found.append(operand)
            case ast.Compare(left=left, comparators=[right]):
                found += [left, right]
    return frozenset(map(id, found))


@dataclass
class _Fill(ast.NodeTransformer):
    filler: Filler
    last: str
    objects: frozenset[int]
    rank: int | None = None

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Fill a hole; any other name stays."""
        if node.id == "LAST":
            return _parsed(self.last)
        match = ARRAY.fullmatch(node.id)
        if match and match[1] in KINDS:
            text = self.filler.array(match[1], match[2], id(node) not in self.objects)
            if self.rank is None:
                self.rank = self._rank(match[2])
            return _parsed(text)
        if node.id in CHOICES or node.id in DRAWN:
            return _parsed(self.filler.choice(node.id, self._rank(None)))
        return node

    def _rank(self, letters: str | None) -> int:
        if self.rank is not None:
            return self.rank
        if letters in (None, "s"):
            return len(self.filler.base)
        return 0 if letters == "0" else len(letters or "")

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """An index is text of its own, since it may have slices."""
        value = self.visit(node.value)
        if isinstance(node.slice, ast.Name) and node.slice.id == "INDEX":
            index = self.filler.choice("INDEX", self._rank(None))
            return _parsed(f"({ast.unparse(value)})[{index}]")
        return ast.Subscript(value, self.visit(node.slice), node.ctx)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Choose among a call's optional keywords; take one argument of `PICK`."""
        if isinstance(node.func, ast.Name) and node.func.id == "PICK":
            return self.visit(self.filler.random.choice(node.args))
        function = self.visit(node.func)
        arguments = [self.visit(argument) for argument in node.args]
        kept = [
            ast.keyword(keyword.arg, self.visit(value))
            for keyword in node.keywords
            if (value := self._kept(keyword.value)) is not None
        ]
        return ast.Call(function, arguments, kept)

    def _kept(self, value: ast.expr) -> ast.expr | None:
        match value:
            case ast.Call(func=ast.Name(id="NEED"), args=[needed]):
                return needed
        return value if self.filler.random.random() < 0.3 else None


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
