"""The text of programs: printing and parsing. Serves: text.*

Takes a `ClosedJaxpr` and gives its text, as JAX prints it, and back. Start reading at
`printer.to_text` and at `parser.parse`.

- `cursor`: a cursor over tokens: looks ahead, expects, reports
- `doc`: a pretty-printing algebra: text with places for line breaks
- `lexer`: program text as tokens, each with its position
- `literals`: literals of program text, and the types of bare numbers
- `mesh_values`: params about the devices of a mesh: meshes, specs, sets of names
- `naming`: names of variables, and of programs that are used often
- `objects`: params that are texts, trees, types or options
- `params`: parameters of equations from text to values, by the rows
- `parser`: program text to a program: names, literals and params resolved
- `printer`: programs as text: JAX's layout, names and order
- `reader`: tokens to a syntax tree, by recursive descent
- `shown`: params that text spells as programs, and equations as None
- `syntax`: program text as a syntax tree
- `words`: numbers, dtypes and param values, written and read back

>>> print(parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }"))
{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
"""

from functools import partial as _partial
from typing import TYPE_CHECKING

from traceir.base.lazy_exports import load as _load
from traceir.base.tracebacks import published as _published

if TYPE_CHECKING:
    from traceir.text.parser import parse
    from traceir.text.printer import to_text

__all__ = ["parse", "to_text"]
# Who prints a program seldom reads one.
_LATER = {"parse": "traceir.text.parser", "to_text": "traceir.text.printer"}


def __getattr__(name: str) -> object:
    if name in _LATER:
        shown = _partial(_published, __name__, name)
        return _load(globals(), _LATER[name], name, shown)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
