"""Mathematics as a tree, with two spellings: MathML and LaTeX.

Serves: every formula, as the rendered specification shows it
"""

from __future__ import annotations

from html import escape
from typing import Final, Literal

from traceir.base.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Leaf:
    """One sign or word: a name, a function, a number, a word, an operator, a text."""

    kind: Literal["name", "function", "number", "word", "operator", "text"]
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """Parts, one after the other."""

    parts: tuple[Math, ...]


@dataclass(frozen=True, slots=True)
class Fraction:
    """One part over another."""

    over: Math
    under: Math


@dataclass(frozen=True, slots=True)
class Root:
    """A square root."""

    body: Math


@dataclass(frozen=True, slots=True)
class Power:
    """A base with an exponent."""

    base: Math
    exponent: Math


@dataclass(frozen=True, slots=True)
class Below:
    """An operator with its range below it, as of a sum."""

    operator: Leaf
    range: Math


@dataclass(frozen=True, slots=True)
class Cases:
    """Values with the conditions under which they count; the last one has none."""

    rows: tuple[tuple[Math, Math | None], ...]


Math = Leaf | Line | Fraction | Root | Power | Below | Cases

# Operators that LaTeX has a command for; the others stand for themselves.
COMMANDS: Final = {
    "∧": r"\land",
    "∨": r"\lor",
    "¬": r"\lnot",
    "=": "=",
    "≠": r"\ne",
    "<": "<",
    "≤": r"\le",
    ">": ">",
    "≥": r"\ge",
    "∈": r"\in",
    "∉": r"\notin",
    "·": r"\cdot",
    "−": "-",
    "&": r"\mathbin{\&}",
    "|": r"\mathbin{|}",
    "∀": r"\forall",
    "∃": r"\exists",
    "∑": r"\sum",
    "∏": r"\prod",
    "⌊": r"\lfloor",
    "⌋": r"\rfloor",
    "‖": r"\rvert",
    "∣": r"\lvert",
    ":": r"\colon",
    "{": r"\{",
    "}": r"\}",
}
# A long line may be broken before these signs, and after a comma.
COMMA: Final = Leaf("operator", ",")
BREAKS: Final = frozenset(Leaf("operator", sign) for sign in "∧∨=≠<≤>≥∈∉+")
TAGS: Final = {
    "name": "mi",
    "function": "mi",
    "number": "mn",
    "word": "mtext",
    "operator": "mo",
    "text": "mtext",
}


# Formulas with shorter LaTeX fit a line on any screen.
SHORT = 48


def broken(math: Math) -> list[Math]:
    """The parts of a long line between which it may be broken.

    >>> sign, a = Leaf("operator", "+"), Leaf("name", "a" * SHORT)
    >>> [latex(part)[:9] for part in broken(Line((a, sign, a)))]
    ['\\\\mathit{a', '+ \\\\mathit']
    """
    if not isinstance(math, Line) or len(latex(math)) <= SHORT:
        return [math]
    found: list[list[Math]] = [[]]
    for part in math.parts:
        if part in BREAKS and found[-1]:
            found.append([])
        first, *others = broken(part)
        found[-1].append(first)
        found += [[other] for other in others]
        if part == COMMA:
            found.append([])
    return [Line(tuple(parts)) for parts in found if parts]


def mathml(math: Math) -> str:
    """The elements of MathML, without the `math` around them.

    >>> mathml(Fraction(Leaf("number", "1"), Leaf("number", "2")))
    '<mfrac><mn>1</mn><mn>2</mn></mfrac>'
    """
    match math:
        case Leaf():
            return _leaf(math)
        case Line(parts):
            return f"<mrow>{''.join(map(mathml, parts))}</mrow>"
        case Fraction(over, under):
            return f"<mfrac>{mathml(over)}{mathml(under)}</mfrac>"
        case Root(body):
            return f"<msqrt>{mathml(body)}</msqrt>"
        case Power(base, exponent):
            return f"<msup>{mathml(base)}{mathml(exponent)}</msup>"
        case Below(operator, below):
            return f"<munder>{mathml(operator)}{mathml(below)}</munder>"
        case Cases(rows):
            table = "".join(_case(value, condition) for value, condition in rows)
            return f'<mtable class="cases" displaystyle="true">{table}</mtable>'


def latex(math: Math) -> str:
    r"""The LaTeX of the same.

    >>> latex(Line((Leaf("name", "axes"), Leaf("operator", "≤"), Leaf("number", "2"))))
    '\\mathit{axes} \\le 2'
    """
    match math:
        case Leaf(kind, text):
            return _latex_leaf(kind, text)
        case Line(parts):
            return " ".join(map(latex, parts))
        case Fraction(over, under):
            return rf"\frac{{{latex(over)}}}{{{latex(under)}}}"
        case Root(body):
            return rf"\sqrt{{{latex(body)}}}"
        case Power(base, exponent):
            return f"{{{latex(base)}}}^{{{latex(exponent)}}}"
        case Below(operator, below):
            return f"{latex(operator)}_{{{latex(below)}}}"
        case Cases(rows):
            lines = [
                rf"{latex(value)} & \text{{if }} {latex(condition)}"
                if condition
                else rf"{latex(value)} & \text{{otherwise}}"
                for value, condition in rows
            ]
            joined = " \\\\ ".join(lines)
            return rf"\begin{{cases}} {joined} \end{{cases}}"


def _leaf(leaf: Leaf) -> str:
    """The MathML of a leaf."""
    text, tag = escape(leaf.text), TAGS[leaf.kind]
    match leaf.kind:
        case "name":
            # The style sheet slants names: alike whether of one letter or of several.
            return f'<mi class="name" mathvariant="normal">{text}</mi>'
        case "function":
            return f'<mi class="function">{text}</mi>'
        case "word":
            return f"<mtext>&#160;{text}&#160;</mtext>"
        case "text":
            return f'<mtext class="text">{text}</mtext>'
        case "operator" if leaf.text in "∣‖":
            return '<mo stretchy="false">|</mo>'
        case "operator" if leaf in BREAKS or leaf == COMMA:
            return f'<mo form="infix">{text}</mo>'
        case "operator" if leaf.text == ".":
            return '<mo lspace="0" rspace="0">.</mo>'
        case "operator" if leaf.text in "([)]":
            return f'<mo stretchy="false">{text}</mo>'
    return f"<{tag}>{text}</{tag}>"


def _case(value: Math, condition: Math | None) -> str:
    shown = "<mtext>otherwise</mtext>"
    if condition is not None:
        shown = f"<mrow><mtext>if&#160;</mtext>{mathml(condition)}</mrow>"
    return f"<mtr><mtd>{mathml(value)}</mtd><mtd>{shown}</mtd></mtr>"


def _latex_leaf(kind: str, text: str) -> str:
    """The LaTeX of a leaf."""
    plain = text.replace("_", r"\_")
    match kind:
        case "name" if len(text) > 1:
            return rf"\mathit{{{plain}}}"
        case "function" if text in ("max", "min"):
            return rf"\{text}"
        case "function":
            return rf"\operatorname{{{plain}}}"
        case "word":
            return rf"\text{{ {text} }}"
        case "text":
            return rf"\mathtt{{{plain}}}"
    return COMMANDS.get(text, text)
