"""Loops and choices of a plain function, as they are written in Python.

Serves: staged.*

Takes the code of a function and gives code of the same lines, whose `if`, `for` and
`while` ask when they are reached: Python runs them, or they become `cond`, `while` and
`scan` equations. Start reading at `rewriting.rewrite.rewritten`, then at `choices.If`.

- `aliases`: arrays that a loop's names are bound to anew, and the memory that these had
- `choices`: choices while a function is traced: `if` statements, and their sides
- `expressions`: choices in expressions: `a if c else b`, `and`, `or`, `a < b < c`
- `for_loops`: `for` loops over the steps of a range or an array, or over Python's data
- `growing_lists`: lists to which recorded code appends as often as values decide
- `growing_tables`: dicts and sets of a function's own, with keys that are values
- `iteration`: iterables whose steps can be recorded: ranges, arrays, Python's tools
- `list_elements`: elements of lists that grow: their types, and who else has them
- `loops`: loops while a function is traced: their turns and their state
- `moved_lists`: lists that sides of a choice have moved to other memory
- `passes`: runs of a loop's body and of its test on tracers
- `regions`: regions: programs inside of a trace, which may write to its arrays
- `rewriting`: the code of a function with its constructs handed over to `runtime`
- `runtime`: the functions that rewritten code calls, by the names that it knows
- `state`: the state of a construct: the values of names as trees, and their types
- `while_loops`: `while` loops, whose test is recorded as a program of its own
"""
