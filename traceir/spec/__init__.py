"""The specification as data: one JSON document, for readers in any language.

Takes the rules, the grammar and the cases; gives a document of plain JSON, in which a
formula is a tree and a number is exact. Start reading at `document.document`;
`__main__` is the command. The folder `tables` here, or `spec` in a checkout, has the
files that it is made of.

- `cases`: cases as JSON, their programs parsed
- `codec`: rows to JSON and back, by the types of their fields
- `document`: the document: its parts, their digests, and rules read from it again
- `schema`: the JSON Schema of the document, made of the types of the rows' fields
- `sets`: the sets of right results of a case, as intervals of numbers
- `trees`: formulas as trees of JSON, and back

>>> from traceir.rules import default, parse
>>> from traceir.spec.codec import encode
>>> encode(parse("len(axes) > 0"))["rest"]
[{'op': '>', 'to': {'is': 'constant', 'value': 0}}]
"""
