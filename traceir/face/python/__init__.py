"""Python's own numbers and functions in a plain function that is traced.

Serves: python.*

Takes what a user writes for single numbers, `int(x)`, `math.sqrt(x)`, `max(a, b)`; on
values that are known it is Python's own, on traced ones it gives numbers of Python's
that are traced. Start reading at `numbers.number`.

- `builtin_functions`: Python's builtin functions on traced numbers and arrays
- `complex_functions`: functions of the module `cmath` on traced numbers
- `conversions`: Python's classes of numbers in a traced function: a call converts
- `math_functions`: functions of the module `math` on traced numbers
- `number_methods`: methods of Python's numbers that traced ones have
- `numbers`: numbers of Python's that are traced: operands, results and checks
- `operators`: operators between two numbers of Python's, of which one is traced
- `ordered_lists`: functions of `heapq` and `bisect`, written in Python and recorded
- `printing`: `print` in a traced function: it prints when the program runs
- `rounding`: `round` of traced numbers, as Python and NumPy have it
- `stand_ins`: stand-ins for Python's functions and classes of numbers
- `state_changes`: functions that change an object in place
- `written`: functions of Python's that are loops, written in Python and recorded
"""
