"""Transforms by the inference rules: programs made of programs.

Takes a program and which of its inputs move, or are batches; gives the program of
tangents, of cotangents or of the examples. Nothing is traced and no code is that of
`traceir.transforms`; what no rule here speaks of is `Beyond`. Start reading at
`functions.TermFunctions`.

- `backward`: cotangents of the inputs of linear programs, by those of their results
- `batches`: programs applied to many examples, by the column `batch` of the rows
- `builder`: programs being made: equations, typed by the rows
- `forward`: tangents of programs, by those of their inputs
- `functions`: functions on values that record what is done to them; their transforms
- `templates`: the templates of rows, applied as they stand
"""
