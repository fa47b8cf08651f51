"""Ordinary NumPy functions, by theme, each with arguments of its own.

Nothing in them is meant for this project: they are written as one writes NumPy.
`EXAMPLES` has them all; `tests/test_plain.py` runs each under the drop-in decorator.
"""
