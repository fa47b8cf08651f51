"""The text of programs: printing and parsing. Serves: text.*

>>> print(parse("{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }"))
{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
"""

from traceir.text.parser import parse
from traceir.text.printer import to_text

__all__ = ["parse", "to_text"]
