"""The code of a function with its constructs handed over to `runtime`.

Serves: staged.construct, staged.jump

Takes a code object and gives one of the same lines and names. Start reading at
`rewrite.rewritten`.

- `code_objects`: the code object of a function with its constructs rewritten
- `comprehensions`: comprehensions as loops that append
- `growth`: lists of a function's own to which it appends as often as values decide
- `jumps`: `return`, `break` and `continue` as flags and choices
- `liveness`: liveness of names: those whose values a construct has to hand on
- `named_changes`: statements that change lists which grow, rewritten to set names
- `names`: the names that statements set, and those that may have no value
- `rewrite`: a function's syntax tree with its loops and choices handed over
- `syntax`: the syntax that stands for constructs: calls of `runtime`, and statements
- `tables`: dicts and sets of a function's own to which recorded code may add
"""
