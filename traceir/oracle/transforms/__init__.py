"""Transforms by the inference rules: programs made of programs.

Takes a program and which of its inputs move, or are batches; gives the program of
tangents, of cotangents or of the examples. Nothing is traced and no code is that of
`traceir.transforms`; what no rule here speaks of is `Beyond`. Start reading at
`functions.TermFunctions`.

- `backward`: cotangents of the inputs of linear programs, by those of their results
- `batches`: programs applied to many examples, by the column `batch` of the rows
- `builder`: programs being made: equations, typed by the rows
- `collectives`: operations over a named axis, by the column `across` of their rows
- `control`: control flow on values: recorded with programs as params
- `forward`: tangents of programs, by those of their inputs
- `functions`: transforms of functions on values, by the rows and the inference rules
- `named_axes`: functions over named axes, and functions of the parts of arrays
- `of_arrays`: functions of arrays that cases apply, as applications of primitives
- `own_rules`: functions with derivatives of their own
- `pairs`: folds along axes as operations on two operands, which have derivatives
- `recordings`: recordings of functions on values, and whose an operation is
- `regions`: tangents of equations with programs in their params
- `templates`: the templates of rows, applied as they stand
- `terms`: values of functions, and what Python may ask of them
"""
