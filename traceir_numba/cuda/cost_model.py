"""The cost model of CUDA devices: numbers that decide who does what.

A name has a unit as its type, and its docstring says what the number trades off and, in
brackets, by which program `python -m tools.costs NAME` measures it, where there is a
device. None has been measured on one: they follow from what a device has at least. A
decision reads `cost_model.NAME` at that moment.

>>> from traceir_numba.cuda import cost_model
>>> cost_model.LAUNCH_THREADS
256
"""

from __future__ import annotations

from typing import TypeAlias

Additions: TypeAlias = int
Bytes: TypeAlias = int
Count: TypeAlias = int
Elements: TypeAlias = int
Rounds: TypeAlias = int  # each thread of a block takes up something once

# -- launches ----------------------------------------------------------------------

LAUNCH_THREADS: Count = 256
"""Threads of a block at most: registers for each against blocks to start. [gpu_map]"""

BUSY_BLOCKS: Count = 512
"""Blocks that keep a device busy: with fewer, rows are cut into parts. [gpu_rows,
bits]"""

COPY_THREADS: Count = 128
"""Threads of a block that copies what does not lie in one piece. [gpu_copy]"""

# -- nests -------------------------------------------------------------------------

SQUARE_SIDE: Count = 32
"""The side of the squares of a map that reads memory across: whole lines against shared
memory. [gpu_transposed]"""

SQUARE_POINTS: Elements = 2048
"""Maps of fewer points have no squares: they would leave a device idle.
[gpu_transposed]"""

SQUARE_PARTS: Count = 4
"""Where the outer side is no longer than this part of a square's, squares are so much
lower, and where the inner is shorter than a half there are none. [gpu_transposed]"""

THREAD_ROW: Elements = 8
"""Rows of up to so many elements are one thread's work: no lanes to join. [gpu_rows,
bits]"""

THREAD_COLUMN: Elements = 32
"""Columns of up to so many elements are one thread's work. [gpu_columns, bits]"""

THREAD_COLUMNS: Count = 1 << 17
"""So many columns have a thread each however tall they are: the device is busy.
[gpu_columns, bits]"""

THREAD_LINE: Elements = 64
"""Prefix scans of up to so many elements are one thread's work. [gpu_scan, bits]"""

BLOCK_LANES: Count = 128
"""Lanes that a block folds elements into: threads at once against what is joined, and
what a block shares is limited. [gpu_rows, bits]"""

LIGHT_BLOCK_LANES: Count = 256
"""The same of nests that keep up to `LIGHT_LANE_BYTES` in each lane. [gpu_rows,
bits]"""

LIGHT_LANE_BYTES: Bytes = 64
"""See `LIGHT_BLOCK_LANES`. [gpu_rows, bits]"""

ROW_LANES: tuple[Count, ...] = (8, 32)
"""Lanes of short rows, each of which takes up to `LANE_ITEMS` elements: several rows to
a block. [gpu_rows, bits]"""

LANE_ITEMS: Elements = 8
"""See `ROW_LANES`. [gpu_rows, bits]"""

NEIGHBOUR_POINTS: tuple[Count, ...] = (1, 2, 4, 8, 16, 32)
"""Neighbouring rows, or columns, that a block takes: whole lines of memory against
blocks. [gpu_columns, bits]"""

LEAST_NEIGHBOURS: Count = 8
"""Columns that a block takes at least, where more blocks are needed: a sector of
memory. [gpu_softmax, bits]"""

PART_ELEMENTS: Elements = 4096
"""Elements of a part of what is reduced, at least: another kernel joins the parts.
[gpu_rows, bits]"""

PART_ROWS: Count = 256
"""Rows of a part of columns, at least. [gpu_columns, bits]"""

PARTS: Count = 1024
"""Parts of a row at most: each leaves one value, and one block joins those of a row.
[gpu_rows, bits]"""

LINE_PARTS: Count = 512
"""Parts of a line of a prefix scan at most: one thread runs over what they leave.
[gpu_scan, bits]"""

LINE_ITEMS: tuple[Elements, ...] = (1, 4, 16)
"""Elements of a line that a lane takes at once: registers against rounds. [gpu_scan,
bits]"""

SCATTER_THREADS: Count = 1 << 14
"""Threads that put elements in order: enough that a device is busy. [gpu_scatter]"""

SCATTER_PLACES: Count = 8
"""Places of a thread at least for each thread that looks at the same elements: every
one of them reads all. [gpu_scatter]"""

# -- products ----------------------------------------------------------------------

MATMUL_SIDE: Count = 16
"""A block's threads along one side of a tile, and the terms that it lays out at once:
shared memory against reading operands again. [gpu_matmul]"""

MATMUL_ELEMENTS: tuple[Elements, ...] = (8, 4, 2, 1)
"""Elements of a thread along one side, the most first: registers against reading shared
memory again. [gpu_matmul]"""

MATMUL_WIDE_ELEMENTS: tuple[Elements, ...] = (4, 2, 1)
"""The same of numbers of more than four bytes, for which there are half as many
registers. [gpu_matmul_wide]"""

MATMUL_BLOCKS: Count = 128
"""Blocks that keep a device busy with a product: with fewer, tiles are smaller.
[gpu_matmul]"""

# -- loops that are one kernel of one block ----------------------------------------

ROUTINE_THREADS: Count = 256
"""The threads of that block. [gpu_loop]"""

ROUTINE_ROUNDS: Rounds = 256
"""The most that a step takes: more takes longer than a launch of its own. [gpu_loop]"""

JOIN_COST: Rounds = 8
"""What it costs the threads to join what they have found. [gpu_loop]"""

ROUND_ADDITIONS: Additions = 64
"""What an element costs to compute that one round takes up; more counts as more rounds.
[gpu_loop]"""

ROUTINE_SHARED_BYTES: Bytes = 1 << 15
"""Bytes that the block's kernels share at most; a device has 48 KB at least.
[gpu_loop]"""

ROUTINE_ARRAYS: Count = 64
"""Arrays that the kernel is given at most: each takes 56 of 4096 bytes for all
arguments. [gpu_loop]"""

# -- memory ------------------------------------------------------------------------

DEVICE_POOL_BYTES: Bytes = 512
"""Memory comes in pieces of at least so many: what is wasted against asking the driver.
[gpu_map]"""

DEVICE_POOL_STEPS: Count = 8
"""Sizes between a power of 2 and the next: what is wasted against pieces that fit
again. [gpu_map]"""
