"""The numbers of the cost models, measured anew.

`python -m tools.costs NAME` times the program that a number names with the value that
it has, with half of it and with double.

- `entries`: the entries of the cost models, read from their text
- `operations`: what operations on elements cost, each timed in additions
- `plain_programs`: programs that measure entries for plain NumPy functions
- `programs`: what the numbers are measured by: a program each
- `reads`: which numbers each program reads, as it is compiled and run
- `worker`: the process in which one number has one value
"""
