"""Ordinary NumPy functions as they are: who can compile each, and how fast it is then.

`make plain` runs them; `tests/plain` has the functions.
"""
