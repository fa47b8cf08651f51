"""The text of programs: printing and parsing. Serves: text.*

Takes a `ClosedJaxpr` and gives its text, as JAX prints it, and back. Start reading at
`printer.to_text` and at `parser.parse`.

- `cursor`: a cursor over tokens: looks ahead, expects, reports
- `doc`: a pretty-printing algebra: text with places for line breaks
- `lexer`: program text as tokens, each with its position
- `literals`: literals of program text, and the types of bare numbers
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

from traceir.base.tracebacks import publish as _publish
from traceir.text.parser import parse
from traceir.text.printer import to_text

__all__ = ["parse", "to_text"]

_publish(globals())
