"""Layouts of results on devices, found from those of operands.

Serves: sharding.value

Takes a program and the shardings of its operands; gives one for each result, and where
it was given up. Values are the same whatever is found here. Start reading at
`programs.propagate`.

- `equations`: layouts of the results of one operation on arrays
- `primitives`: layouts through one equation, by its primitive
- `programs`: layouts through a program, its loops and its choices
- `specs`: the axes that divide each dimension, joined where operands meet
"""
