"""The oracle: programs run by the tables alone, element by element.

Takes a jaxpr and arrays; gives exact results, or judges another's by the accuracy sets
of the rows. It uses none of the kernels. Start reading at `scalar_interpreter.run`.

- `accuracy`: the accuracy sets: tests whether an element is near enough
- `finite_differences`: derivatives that rows must have, by differences of their `value`
- `relations`: the relations that rows demand of results, such as `q @ r = a`
- `scalar_interpreter`: the interpreter of programs on exact numbers, and the judge
"""
