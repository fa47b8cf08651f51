"""Speed, side by side: `python -m benchmarks` measures, nothing asserts.

Every row is one function, run in turn by several implementations in one process: this
project's Numba backend, `jax.jit`, NumPy, numexpr, a loop written for Numba by hand.
What counts is the ratio of two medians of one run.
"""
