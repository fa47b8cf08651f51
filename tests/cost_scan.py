"""Numbers in the text of modules that could decide by size.

`constants` are module-level names of numbers, `bounds` are literals that something is
compared with. What a cost model has is read as an attribute, when it is needed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("traceir", "traceir_numba")
MODEL = "cost_model"
# Comparisons with these say whether there are any, one, or several.
PLAIN = 2
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
SIZED = ("min", "max")


@dataclass(frozen=True)
class Number:
    """A number in a module: its name, or the function that compares with it."""

    module: str
    name: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"


@cache
def modules() -> tuple[tuple[str, ast.Module], ...]:
    """The modules of both packages but for the cost models, with their trees."""
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return tuple(
        (
            ".".join(path.relative_to(ROOT).with_suffix("").parts),
            ast.parse(path.read_text(encoding="utf-8")),
        )
        for path in sorted(paths)
        if path.stem != MODEL
    )


def constants(module: str, tree: ast.Module) -> Iterator[Number]:
    """Module-level and class-level names that are numbers, or several of them."""
    for node in body_of(tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        if not targets or not is_numeric(node.value):  # type: ignore[union-attr]  # it has targets
            continue
        for target in targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            for part in parts:
                if isinstance(part, ast.Name):
                    yield Number(module, part.id, node.lineno)


def body_of(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements that run at import: a module's own, and those of its classes."""
    todo = list(tree.body)
    while todo:
        node = todo.pop(0)
        yield node
        if isinstance(node, ast.ClassDef | ast.If | ast.Try):
            todo += node.body


def is_numeric(node: ast.expr | None) -> bool:
    """True if an expression is made of literal numbers, at least one beyond `PLAIN`."""
    match node:
        case ast.Dict(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            return bool(parts) and any(map(is_numeric, parts))
        case ast.BinOp() | ast.UnaryOp() | ast.Constant():
            leaves = [n for n in ast.walk(node) if isinstance(n, ast.expr)]
            kinds = ast.BinOp | ast.UnaryOp | ast.Constant | ast.Name
            known = all(isinstance(n, kinds) and not is_text(n) for n in leaves)
            return known and any(map(is_large, leaves))
    return False


def is_text(node: ast.expr) -> bool:
    """True if a literal is no number."""
    number = int | float
    return isinstance(node, ast.Constant) and not isinstance(node.value, number)


def is_large(node: ast.expr) -> bool:
    """True if a literal is a number that says more than none, one or several."""
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return False
    return isinstance(node.value, int | float) and abs(node.value) > PLAIN


def bounds(module: str, tree: ast.Module) -> Iterator[Number]:
    """Literals that functions compare with by order, or bound something by."""
    for function, node in inner(tree, ""):
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and any(
            isinstance(o, ORDER) for o in node.ops
        ):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            sides = node.args if node.func.id in SIZED else []
        elif isinstance(node, ast.arguments):
            sides = [d for d in (*node.defaults, *node.kw_defaults) if d is not None]
        if any(
            is_large(n) for s in sides for n in ast.walk(s) if isinstance(n, ast.expr)
        ):
            yield Number(module, function, sides[0].lineno)


def inner(tree: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
    """All nodes, with the dotted name of the function that they stand in."""
    for node in ast.iter_child_nodes(tree):
        name = function
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{function}.{node.name}" if function else node.name
        yield name, node
        yield from inner(node, name)


def early(module: str, tree: ast.Module) -> Iterator[Number]:
    """Reads of a cost model that happen at import, and names imported of one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(MODEL):
            yield Number(module, node.names[0].name, node.lineno)
    yield from (Number(module, n.attr, n.lineno) for n in outside(tree))


def outside(node: ast.AST) -> Iterator[ast.Attribute]:
    """Attributes of a cost model that are read where no function runs."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            made = [*getattr(child, "decorator_list", ()), child.args]
            for part in made:
                yield from outside(ast.Expression(part))  # type: ignore[arg-type]  # any node will do
            continue
        yield from reads(child, deep=False)
        yield from outside(child)


def reads(tree: ast.AST, deep: bool = True) -> Iterator[ast.Attribute]:
    """Attributes of a cost model among a tree's nodes, or its root alone."""
    for node in ast.walk(tree) if deep else [tree]:
        match node:
            case ast.Attribute(value=ast.Name(id="cost_model")):
                yield node
