"""Functions with loops and branches, by subject: each as its author would write it.

Some are written for NumPy (operations on whole arrays inside Python's loops), some for
Numba (loops over elements). Each module has a list `PROGRAMS` of its functions, with
makers of arguments; `tests/test_plain_loops.py` runs each under the drop-in decorator.
"""
