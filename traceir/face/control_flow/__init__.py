"""Loops and choices of a plain function, as they are written in Python.

Serves: staged.*

Takes the code of a function and gives code of the same lines, whose `if`, `for` and
`while` ask when they are reached: Python runs them, or they become `cond`, `while` and
`scan` equations. Start reading at `rewrite.rewritten`, then at `choices.If`.

- `aliases`: arrays that a loop's names are bound to anew, and the memory that these had
- `choices`: choices while a function is traced: `if`, conditional expressions, `and`
- `code_objects`: the code object of a function with its constructs rewritten
- `for_loops`: `for` loops over the steps of a range or an array, or over Python's data
- `iteration`: iterables whose steps can be recorded: ranges, arrays, Python's tools
- `jumps`: `return`, `break` and `continue` as flags and choices
- `liveness`: liveness of names: those whose values a construct has to hand on
- `loops`: loops while a function is traced: their turns and their state
- `names`: the names that statements set, and those that may have no value
- `passes`: runs of a loop's body and of its test on tracers
- `regions`: regions: programs inside of a trace, which may write to its arrays
- `rewrite`: a function's syntax tree with its loops and choices handed over
- `runtime`: the functions that rewritten code calls, by the names that it knows
- `state`: the state of a construct: the values of names as trees, and their types
- `while_loops`: `while` loops, whose test is recorded as a program of its own
"""
