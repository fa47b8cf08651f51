"""A primitive from nothing: `make new-primitive NAME=softsign`.

It writes the row, the kernel, the emitter, the function of `traceir.lax`, the line of
the chapter and the cases of a function of one real operand, or of two (`--binary`).
What it writes is whole, and is the identity, or the product. The meaning stands in five
places, which the options fill in or a person afterwards: `--value` and `--jvp` in the
row, `--numpy` in the kernel, `--emit` in the emitter, `--says` in the function's
docstring. The cases have `value ?`: `python -m traceir.conform --write` fills them in.
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = "spec/rules/special.toml"
CHAPTER = "spec/special.rst"
KERNELS = "traceir/reference/kernels/special/in_float64.py"
EMITTERS = "traceir_numba/emitters/scalars.py"
FUNCTIONS = "traceir/lax/elementwise/special.py"
NAMESPACE = "traceir/lax/__init__.pyi"
CASES = "spec/cases/special.tir"
DERIVATIVES = "spec/cases/grad.tir"
BATCHES = "spec/cases/vmap.tir"


def parser() -> argparse.ArgumentParser:
    """The command's parser."""
    found = argparse.ArgumentParser(
        prog="python -m tools.new_primitive", description=__doc__.partition("\n")[0]
    )
    add = found.add_argument
    add("name", help="as it stands in programs, and in traceir.lax")
    add("--binary", action="store_true", help="of two operands, x and y")
    add("--value", help="the row's formula, of the elements a (and b)")
    text = "the row's template for an operand, by x first, and by y"
    add("--jvp", action="append", metavar="TEMPLATE", help=text)
    add("--numpy", help="the kernel's expression, of x (and y) in float64")
    add("--emit", help="the emitted expression, of {x} (and {y})")
    add("--says", default="A new function", help="what it is, for its docstring")
    return found


class Primitive:
    """The texts of a new primitive."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.name: str = options.name
        self.operands = ["x", "y"] if options.binary else ["x"]
        binary: bool = options.binary
        self.value = options.value or ("a * b" if binary else "a")
        self.jvp = options.jvp or (["mul t y", "mul x t"] if binary else ["t"])
        self.numpy = options.numpy or ("x * y" if binary else "x")
        self.emit = options.emit or ("{x} * {y}" if binary else "{x}")
        self.says: str = options.says.rstrip(".")
        if len(self.jvp) != len(self.operands):
            raise SystemExit("one --jvp for each operand")

    @property
    def row(self) -> str:
        """The row of the table."""
        jvp = ", ".join(f'{x} = "{t}"' for x, t in zip(self.operands, self.jvp))
        return (
            f'[prim.{self.name}]\nclass = "special{len(self.operands)}"\n'
            f'value = "{self.value}"\naccuracy = "ulp"\njvp = {{ {jvp} }}\n'
        )

    @property
    def kernel(self) -> str:
        """The kernel in NumPy."""
        given = ", ".join(f"{x}: np.ndarray" for x in self.operands)
        return (
            f'@of_doubles("{self.name}")\ndef {self.name}({given}) -> Any:\n'
            f'    """{self.says}."""\n    return {self.numpy}\n'
        )

    @property
    def emitter(self) -> str:
        """The entry among the emitters."""
        given = ", ".join(f"{x}: str" for x in self.operands)
        return (
            f'@emitter("{self.name}", exact=False)\n'
            f"def {self.name}(e: ExpressionContext, {given}) -> str:\n"
            f'    """{self.says}."""\n    return f"{self.emit}"\n'
        )

    @property
    def function(self) -> str:
        """The public function."""
        given = ", ".join(f"{x}: Operand" for x in self.operands)
        ones = ", ".join("1.0" for _ in self.operands)
        bind = "_unary" if len(self.operands) == 1 else "_binary"
        return (
            f"def {self.name}({given}) -> Array:\n"
            f'    """{self.says}; floating.\n\n'
            f"    >>> {self.name}({ones}).dtype\n    dtype('float32')\n"
            f'    """\n    return {bind}("{self.name}", {", ".join(self.operands)})\n'
        )

    def program(self, dtype: str, shape: int | str) -> str:
        """The program that applies it."""
        kind = f"{dtype}[{shape}]"
        names = ["a", "b"][: len(self.operands)]
        inputs = " ".join(f"{n}:{kind}" for n in names)
        given = " ".join(names)
        return f"{{ lambda ; {inputs}. let c:{kind} = {self.name} {given} in (c,) }}"

    def case(
        self, name: str, cites: str, program: str, call: Sequence[str], under: str = ""
    ) -> str:
        """A case without its value."""
        transformed = f"  under  {under}\n" if under else ""
        return (
            f"case {name}\n  cites  {cites}\n  given  {program}\n{transformed}"
            f"  call   {' '.join(call)}\n  value  ?\n"
        )

    @property
    def cases(self) -> list[str]:
        """Values of each dtype, and the public function."""
        count, rule = len(self.operands), f"special{len(self.operands)}.floating"
        ends = ["f32[7]{0 -0.0 0.5 -2 inf -inf nan}", "f32[7]{1 2 3 0.5 1 inf 1}"]
        double = ["f64[3]{0.1 -1 5}", "f64[3]{2 0.3 -0.7}"]
        half = ["f16[2]{0.5 -3}", "f16[2]{2 0.25}"]
        inputs = " ".join(self.operands)
        host = f"{{ lambda ; {inputs}. let z = lax.{self.name} {inputs} in (z,) }}"
        lax = ["f32[1]{0.5}", "f32[1]{2}"]
        n, ulp = self.name, "accuracy.ulp"
        cites = f"{rule} {ulp}"
        return [
            self.case(f"{n}/values", cites, self.program("f32", 7), ends[:count]),
            self.case(f"{n}/double", ulp, self.program("f64", 3), double[:count]),
            self.case(f"{n}/half", ulp, self.program("f16", 2), half[:count]),
            self.case(f"{n}/of-lax", rule, host, lax[:count], "jit"),
        ]

    @property
    def derivatives(self) -> list[str]:
        """Tangents, and cotangents."""
        primals = ["f32[2]{0.5 -3}", "f32[2]{2 0.25}"][: len(self.operands)]
        tangents = ["f32[2]{1 2}", "f32[2]{-1 4}"][: len(self.operands)]
        program, n = self.program("f32", 2), self.name
        pushed, pulled = [*primals, *tangents], [*primals, tangents[0]]
        return [
            self.case(f"jvp/{n}", "derive.template", program, pushed, "jvp"),
            self.case(f"vjp/{n}", "derive.transpose", program, pulled, "vjp"),
        ]

    @property
    def batches(self) -> list[str]:
        """Examples in front, and behind."""
        program, n = self.program("f32", 2), self.name
        rows = ["f32[3,2]{0 0.5 1 -1 2 -2}", "f32[3,2]{1 2 3 4 5 6}"]
        columns = ["f32[2,3]{0 0.5 1 -1 2 -2}", "f32[2,3]{1 2 3 4 5 6}"]
        count = len(self.operands)
        axes = f"vmap[in_axes=({','.join('1' * count)},)]".replace(",,", ",")
        cites = "accuracy.batched"
        return [
            self.case(f"vmap/{n}", cites, program, rows[:count], "vmap"),
            self.case(f"vmap/{n}-1", cites, program, columns[:count], axes),
        ]


def write(primitive: Primitive, root: Path = ROOT) -> list[str]:
    """Write all places of a primitive below a root; gives the names of the files."""
    name = primitive.name
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower():
        raise SystemExit(f"{name!r} is no name of a function in small letters")
    tables = "".join(p.read_text() for p in (root / "spec/rules").glob("*.toml"))
    if re.search(rf"^\[prim\.{name}\]$", tables, re.MULTILINE):
        raise SystemExit(f"there is a primitive {name}")
    texts = {
        TABLE: appended(root / TABLE, primitive.row),
        CHAPTER: spliced(root / CHAPTER, name),
        KERNELS: appended(root / KERNELS, "\n" + primitive.kernel),
        EMITTERS: appended(root / EMITTERS, "\n" + primitive.emitter),
        FUNCTIONS: appended(root / FUNCTIONS, "\n" + primitive.function),
        NAMESPACE: listed(root / NAMESPACE, name),
        CASES: appended(root / CASES, *primitive.cases),
        DERIVATIVES: appended(root / DERIVATIVES, *primitive.derivatives),
        BATCHES: appended(root / BATCHES, *primitive.batches),
    }
    for path, text in texts.items():
        (root / path).write_text(text, encoding="utf-8")
    return list(texts)


def appended(path: Path, *parts: str) -> str:
    """The text of a file with parts at its end, each after an empty line."""
    text = path.read_text(encoding="utf-8").rstrip("\n")
    return "\n".join([f"{text}\n", *parts])


def spliced(path: Path, name: str) -> str:
    """The text of a chapter that shows the row after the last one of a primitive."""
    text = path.read_text(encoding="utf-8")
    last = list(re.finditer(r"^\.\. rule:: \w+\n", text, re.MULTILINE))[-1]
    return f"{text[: last.end()]}.. rule:: {name}\n{text[last.end() :]}"


def listed(path: Path, name: str) -> str:
    """The text of a namespace with a line for a function, at its place."""
    text = path.read_text(encoding="utf-8")
    module = FUNCTIONS.removesuffix(".py").replace("/", ".")
    head = f"from {module} import "
    lines = [line for line in text.splitlines(True) if line.startswith(head)]
    block = "".join(lines)
    lines.append(f"{head}{name} as {name}\n")
    return text.replace(block, "".join(sorted(lines)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = parser().parse_args(arguments)
    for path in write(Primitive(options)):
        print(path)
    n = options.name
    patterns = f"'{n}/*' 'jvp/{n}' 'vjp/{n}' 'vmap/{n}*'".replace(" ", " --write ")
    print(f"then: python -m traceir.conform --write {patterns}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
