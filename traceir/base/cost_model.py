"""The cost model of tracing and of the reference.

A name has a unit as its type, and its docstring says what the number trades off and, in
brackets, by which program `python -m tools.costs NAME` measures it. A decision reads
`cost_model.NAME` at that moment.

>>> from traceir.base import cost_model
>>> cost_model.GUARDED_CALLS
2
"""

from __future__ import annotations

from typing import TypeAlias

Bytes: TypeAlias = int
Count: TypeAlias = int
Elements: TypeAlias = int

# -- calls -------------------------------------------------------------------------

GUARDED_CALLS: Count = 2
"""Calls of one kind in a row that are worth a guard of their own: the time to make it
against what each later call saves. [calls]"""

WHOLE_FINGERPRINT_BYTES: Bytes = 1 << 10
"""Larger arrays are remembered by a digest of their bytes: a copy against what a digest
costs in each strict call. [strict_calls]"""

RESTORED_BYTES: Bytes = 1 << 20
"""Arrays outside of a function of up to so many are kept while it is traced, to be put
back: a copy for each trace. [traced_state]"""

REPORTED_EQUATIONS: Count = 1000
"""From so many equations on, a line is taken for the body of a loop that Python ran,
and a warning says so: compiling them takes seconds. [unrolled]"""

UNROLLED_STEPS: Count = 4
"""A loop of a plain function with at most so many steps is run by Python while it is
traced: its steps may then be fused. [short_loops]"""

UNROLLED_NEST: Count = 16
"""Short loops inside of each other are run by Python while their innermost body is
recorded at most so many times: compiling it again each time takes longer than what
fusing saves. [nested_short_loops]"""

UNROLLED_LENGTHS: Count = 16
"""A loop of at most so many turns that goes through parts of arrays whose lengths its
number decides is run by Python: a compilation for each against sums that are no
vectors. [known_lengths]"""

UNROLLED_LENGTH: Elements = 1 << 14
"""The same where some part may have as many elements. [known_lengths]"""

KNOWN_STEPS: Count = 10_000
"""A loop that computes Python's numbers from Python's numbers alone is run by Python if
it has at most so many steps: the numbers are known then. [known_numbers]"""

UNROLLED_EQUATIONS: Count = 20_000
"""The most that a loop over the elements of an array may record: compiling so many
takes minutes, so the function should say its loop in another way.
[unrolled_elements]"""

LIST_ROOM: Elements = 1024
"""Lists that loops without a bound append to, and new arrays of sizes without a bound,
have room for so many at first: zeros that each call writes against a trace and a
compilation more. [lists]"""

LIST_ROOM_FACTOR: Count = 32
"""How many times as many there is room for when that was not enough: three
compilations lead to a million, where each call writes that many zeros. [lists]"""

MOST_LIST_ROOM: Elements = 2**27
"""The most elements of a list: a gigabyte of numbers. [lists]"""

# -- operations outside of traces --------------------------------------------------

PLAN_EQUATIONS: Count = 100
"""Longer functions have no plan: what they compute costs more than how they are called.
[eager_long]"""

PLAN_SEQUENCE: Count = 16
"""Longer sequences of numbers are contents, not settings: each would have a plan of its
own. [eager_sequence]"""

PLAN_CONSTANT_ELEMENTS: Elements = 64
"""Results of constants alone are kept in a plan up to so many: memory against computing
them again. [eager_constant]"""

SHARED_PART_BYTES: Bytes = 1024
"""A part of an array of up to so many bytes shares its memory, and of a larger one if
it is half of it: a copy against what is kept alive. [eager_part]"""

# -- kernels -----------------------------------------------------------------------

COMPARED_VALUES: Count = 32
"""Beside so many values, membership is found by comparing with each instead of
searching. [membership]"""

OPTIMAL_EINSUM_OPERANDS: Count = 4
"""More operands have so many orders that the best one takes long to find. Which
products are recorded depends on it. [einsum]"""

SINGLE_THREAD_ELEMENTS: Elements = 1 << 16
"""Matrices of up to so many are for one thread of the library. At 256 rows, where
nothing else runs, two threads solve triangular systems in 0.7 of the time; where the
processors are busy they take a hundred times as long, for 64 rows, too. [factorize]"""

STACKED_ROWS: Count = 8
"""Stacks of matrices of up to so many rows are factorized together, row by row: calls
of the library against passes over memory. [stacks]"""

STACKED_SYSTEMS: Count = 8
"""From so many systems for each row on: fewer are not worth the passes. [stacks]"""

STACKED_SIDES: Count = 4
"""Triangular systems may be so many times as large, and have so many right sides for
each row: they take fewer passes. [stacks]"""

STABLE_SORT_LINE: Elements = 1024
"""For lines below this length NumPy's stable sort is faster than sorting keys with
their places. [sort]"""

SELECTED_SHARE: Count = 8
"""The greatest elements are selected where they are less than this part of a line,
otherwise all are sorted. [top_k_share]"""

BLOCKED_LINE: Elements = 1000
"""In lines of this length on the greatest elements are looked for in blocks whose own
greatest are the greatest: passes over short arrays against long ones. [top_k]"""

BLOCKED_SHARE: Count = 64
"""The same where they are at most this part of a line: otherwise blocks are short, and
many of them are read. [top_k]"""

THREEFRY_PIECE: Elements = 8192
"""Random bits are made for so many elements at a time: what a round reads and writes
stays in the cache. [draws]"""
