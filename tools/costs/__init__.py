"""The numbers of the cost models, measured anew.

`python -m tools.costs NAME` times the program that a number names with the value that
it has, with half of it and with double. `entries` reads the models, `programs` has what
is timed, `worker` is the process that holds one value.
"""
