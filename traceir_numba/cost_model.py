"""The cost model of the CPU backend: all numbers that decide by size.

A name has a unit as its type. Its docstring says what the number trades off, and in
brackets by which program it is measured: `python -m tools.costs NAME` times that with
this value, with half and with double of it; and `bits` where bits of results depend on
it. A decision reads `cost_model.NAME` then: what is set here holds from that moment.

`traceir_numba.cuda.cost_model` has the numbers of devices, `traceir.base.cost_model`
those of the reference and of tracing.

>>> from traceir_numba import cost_model
>>> cost_model.operation_cost("add"), cost_model.operation_cost("exp")
(1, 25)
"""

from __future__ import annotations

from typing import TypeAlias

Additions: TypeAlias = int  # some 80 take a nanosecond on one core
Bytes: TypeAlias = int
Characters: TypeAlias = int  # of LLVM text
Count: TypeAlias = int
Elements: TypeAlias = int
Multiplications: TypeAlias = int
Nanoseconds: TypeAlias = int

# -- what operations cost ----------------------------------------------------------

OPERATION_COST: dict[str, Additions] = {
    **dict.fromkeys(("sign", "round"), 2),
    **dict.fromkeys(("shift_left", "shift_right_logical", "shift_right_arithmetic"), 4),
    **dict.fromkeys(("div", "sqrt", "nextafter"), 8),
    **dict.fromkeys(("population_count", "reduce_precision"), 12),
    "rem": 20,
    "clz": 24,
    **dict.fromkeys(("exp", "exp2", "expm1", "log"), 25),
    **dict.fromkeys(("log1p", "tanh"), 30),
    **dict.fromkeys(("logistic", "sinh", "cosh", "cbrt"), 35),
    **dict.fromkeys(("asin", "acos", "atan", "erf"), 35),
    **dict.fromkeys(("sin", "cos", "atanh"), 40),
    **dict.fromkeys(("asinh", "acosh", "tan", "atan2"), 45),
    "erfc": 60,
    "erf_inv": 70,
    "threefry2x32": 120,
    **dict.fromkeys(("pow", "bessel_i0e", "bessel_i1e"), 80),
    **dict.fromkeys(("lgamma", "digamma"), 110),
    **dict.fromkeys(("zeta", "polygamma", "igamma", "igammac"), 900),
    "regularized_incomplete_beta": 1500,
    **dict.fromkeys(("igamma_grad_a", "random_gamma_grad"), 2000),
}
"""An operation on an element, by primitive; others cost 1. Too high stores and hoists
what is cheap, too low computes twice what is expensive. [operations]"""

MEMORY_COST: Additions = 8
"""Reading or writing an element: how work is divided among threads. [threads]"""
GATHER_COST: Additions = 8
"""Reading an element at an index that is found, against storing it. [gather]"""
SCATTERED_READ_COST: Additions = 16
"""Reading each element from another line of memory, in a large array: as much as what
is just not stored, since reading alone is not. [transposed]"""
SCAN_COST: Additions = 40
"""Leaving the fold so far at an element: when threads share prefix scans. [scan]"""
LINE_COST: Additions = 4
"""An equation besides what it computes: its line is compiled, too. [chain]"""

# -- fusion ------------------------------------------------------------------------

RECOMPUTE_COST: Additions = 16
"""A value that costs more is stored, not computed twice: memory or arithmetic.
[recompute]"""
REPEATED_COST: Additions = 4
"""The same where an outer loop of one nest would compute a value again. [repeated]"""
COUNTED_COST: Additions = 160
"""Costs are counted up to this; a value as expensive is stored where it may be computed
again: passes over long programs against exactness. [chain]"""

REPEATED_PARTS: Count = 4
"""A value counts as repeated if so many of it fill the loops' space. [repeated]"""

CLUSTER_EQUATIONS: Count = 16
"""Equations of a cluster: registers against memory between nests. [wide]"""
FUSION_CANDIDATES: Count = 8
"""Clusters that an equation is tried in: time to compile against fewer nests. [wide]"""
FUSION_ROUNDS: Count = 6
"""How often fusion begins anew with what it has stored: time to compile against fewer
nests. [recompute]"""

NEST_ARRAYS: Count = 40
"""Arrays that a nest reads: a device's kernels are given 4096 bytes of arguments, of
which each array takes 56. [wide]"""

BODY_COST: Additions = 3000
"""The body of one loop: LLVM's time grows faster than a body. [chain]"""

BODY_FUNCTION_COST: Additions = 128
"""The real functions of one body, in large loops: vectors that wait in registers
against memory between nests. [chain]"""

SPLIT_BODY_ELEMENTS: Elements = 1 << 14
"""Bodies are split by their functions from so many elements on: another launch against
fewer registers. [chain]"""

MIXED_COLUMNS: Count = 8
"""Columns side by side that are written together, line by line. [mixed]"""
CONCAT_PARTS: Count = 4
"""Parts that are read where they are, behind conditions. [concat]"""
CONCAT_ELEMENTS: Elements = 1 << 14
"""Up to so many elements all such parts are read where they are. [concat_halves]"""
CONCAT_SHARE: Count = 4
"""Beyond, all parts but the largest are at most this part of the elements: then
conditions seldom fail. [concat]"""

MULTIPASS_ROWS: Count = 16
"""Passes over rows share a nest from so many rows on, which threads divide; the cache
against idle threads. [softmax]"""
MULTIPASS_ELEMENTS: Elements = 1 << 16
"""Or up to so many elements, which one thread takes in any case. Larger arrays count as
read across where they are. [softmax]"""

SEPARATE_NEST_ROW: Elements = 64
"""Rows of up to so many elements, of which there are `SEPARATE_NEST_ROWS`, leave
expensive results of their results to a nest over all rows, which is vectors.
[tiny_softmax]"""
SEPARATE_NEST_ROWS: Count = 256
"""See `SEPARATE_NEST_ROW`: a launch against a call for each row. [tiny_softmax]"""

CACHED_TILE_BYTES: Bytes = 1 << 20
"""A tile of columns that is still in the cache when it is read again: one nest of
several passes against several nests. [softmax_columns]"""

HOISTED_COST: Additions = 4
"""What costs more is computed before a loop, if it can be: memory against arithmetic in
each round. [loop]"""

# -- loops -------------------------------------------------------------------------

SPECIALIZED_POINTS: Elements = 2048
"""Launches over fewer points share kernels: time to compile against code of their own.
[little]"""

UNROLLED_POINTS: Count = 8
"""Points of short loops that are unrolled, all in all. [tiny_rows]"""
UNROLLED_INSTRUCTIONS: Count = 240
"""Instructions of unrolled loops: LLVM unrolls no longer ones. [tiny_rows]"""
UNROLLED_BODY_EQUATIONS: Count = 128
"""Equations of the turns of a loop that are one body, where asked. [written_turns]"""
FIXED_ROW: Elements = 512
"""The longest rows whose length is a constant: time to compile. [known_rows]"""

FIXED_ROW_ELEMENTS: Elements = 1 << 14
"""Such constants, and vectors side by side, are for so many elements. [few_rows]"""

CONSTANT_STRIDE: Elements = 4
"""Strides of up to so many elements are constants: vectors and gathers. [strided]"""
NEIGHBOURS: Elements = 16
"""Elements up to so far apart are read as parts of the same vectors. [neighbours]"""

INTERLEAVED_COST: Additions = 48
"""Bodies that cost more are computed for several vectors at once, so that one chain of
operations need not wait for itself: registers against latency. [deep]"""
HALF_INTERLEAVED_COST: Additions = 320
"""From this cost on for half as many vectors: registers run out. [deeper]"""
INTERLEAVED_VECTORS: Count = 4
"""Vectors that are computed at once, see `INTERLEAVED_COST`. [deep]"""

TRANSPOSED_TILE: tuple[Elements, Elements] = (16, 64)
"""Tiles of a map that reads some memory across: neighbours, and lines. [transposed]"""

# -- reductions: bits depend on how elements are folded ----------------------------

SEQUENTIAL_ROW: Elements = 8
"""Up to so many elements are folded one after the other. [tiny_rows, bits]"""
SEARCHED_ROW: Elements = 20
"""In longer rows an extreme is found before its place: two passes. [searched]"""
SEARCH_COST: Additions = 12
"""What a search adds to each element of a short row. [searched]"""
SHORT_ROW: Elements = 256
"""Rows of up to so many elements have `SHORT_ROW_ACCUMULATORS`. [short_rows, bits]"""
SHORT_ROW_ACCUMULATORS: Count = 32
"""Accumulators of a short row: vectors at once against what is joined at its end.
[short_rows, bits]"""
ROW_ACCUMULATORS: Count = 128
"""Accumulators of a long row. [long_rows, bits]"""
MASKED_REST_COST: Additions = 32
"""What is left of long rows beside whole rounds of them is masked up to this cost:
registers against lanes that nobody reads. [long_rows]"""

SUMMED_ROWS: Count = 4
"""Rows that enter the accumulators of columns each time, where little is computed:
registers against reading and writing accumulators. [columns]"""
COLUMN_TILE: Elements = 512
"""Columns that are folded side by side: accumulators in the cache against whole lines
of memory. [columns]"""
MULTIPASS_COLUMN_TILE: Elements = 128
"""The same of a nest with several passes, so that the tile is still in the cache.
[softmax_columns]"""

INTERLEAVED_ROWS: Count = 32
"""Rows of few columns that are folded side by side. [few_columns, bits]"""

REDUCTION_BLOCK: Elements = 16384
"""One block of a reduction of everything: pieces for threads against blocks to join.
[whole, bits]"""

COLUMN_BLOCK_ROWS: Count = 64
"""Rows of a block of columns, at least: what a block leaves is little beside them.
[column_blocks, bits]"""

COLUMN_BLOCK_TILES: Count = 2
"""Up to so many tiles of columns are reduced in blocks: where there are more, threads
share columns. [column_blocks, bits]"""

COLUMN_BLOCKS: Count = 4
"""From so many blocks on: sharing pays the blocks' sums. [column_blocks, bits]"""

SCAN_CHUNK: Elements = 4096
"""Elements of a line that are folded, then left, while the fastest cache has them.
[scan]"""

SCAN_STRIPS: Count = 8
"""Parts of a chunk that run side by side: one fold waits for itself. [scan, bits]"""

UNROLLED_WINDOW: Elements = 8
"""Windows of up to so many elements along a dimension are folded one by one, larger
ones in doubling steps. [window]"""

# -- products ----------------------------------------------------------------------

MATMUL_STACK_WORK: Multiplications = 1 << 15
"""Products of fewer, a whole stack of them, join the nests around: a call that lays out
operands against fusion. [matmul_small, bits]"""

MATMUL_WORK: Multiplications = 1 << 7
"""The same of each product of a stack. [matmul_stack, bits]"""

COMPLEX_MATMUL_WORK: Multiplications = 1 << 15
"""Complex products of fewer join the nests around; others are four products.
[matmul_complex, bits]"""

MATMUL_DEPTH: Elements = 256
"""Terms of one block of a product's sum, a panel's depth: the first cache holds a
block. Part of what a product means (choice.dot-order). [matmul, bits]"""
MATMUL_PANEL_ROWS: Count = 96
"""Rows that are laid out at once: the second cache holds them. [matmul]"""
MATMUL_PANEL_COLUMNS: Count = 1024
"""Columns that are laid out at once: the last cache holds them. [matmul]"""
UNPACKED_MATMUL_ROWS: Count = 32
"""Fewer rows read the right operand where it is, if its rows are whole: laying it out
pays where it is read often. [matmul_flat]"""
BROAD_TILE_ROWS: Count = 3
"""Up to so many rows over windows are made one by one: reads against sums.
[few_filters]"""
THREADED_MATMUL_WORK: Multiplications = 1 << 22
"""Products of more are shared by threads: 40 us on one core, against waking another.
[matmul_shared]"""
MATMUL_PIECE_ROWS: Count = 64
"""Rows, or columns, of a thread's piece at least: each piece lays out an operand anew.
[matmul_shared]"""
HALVED_MATMUL_PIECES: Count = 8
"""From so many times the least rows on a thread has two pieces: balance against laying
out. [matmul_shared]"""
MATMUL_PIECE_WORK: Multiplications = 1 << 31
"""Multiplications of a piece at most: between pieces Python handles signals.
[matmul_long]"""
ROUTINE_MATMUL_WORK: Multiplications = 1 << 24
"""Products within compiled loops are shared from so many on: 200 us on one core,
against threads that the C library makes. [matmul_loop]"""
SPLIT_SUM_TERMS: Elements = 1 << 14
"""Sums of as many terms, of few results, are cut into parts that threads share.
[matmul_long, bits]"""
SPLIT_SUM_PART: Elements = 1 << 12
"""Terms of such a part: pieces for threads against sums to join. [matmul_long, bits]"""
SPLIT_SUM_RESULTS: Elements = 1 << 14
"""Results of such a product at most: each part leaves as many. [matmul_long, bits]"""
SPLIT_SUM_PIECES: Count = 4
"""Pieces of such parts for each thread: balance against handing them out.
[matmul_long]"""

SELECTED_LINE: Elements = 1000
"""Lines from this length on are put in order only where they are read. [median]"""
SELECTED_PLACES: Count = 32
"""The same for so many places at most: selections against one sort. [median]"""
SMALL_MATRIX_ROWS: Count = 64
"""Matrices of up to so many rows and columns are factorized by code of our own: calls
of LAPACK against its blocks. [small_factors, bits]"""

FFT_POINTS: Elements = 1 << 15
"""Fourier transforms of as many points are code of our own, those of real elements of
twice as many: what it costs to divide work against vectors. [fft, bits]"""
FFT_PANEL: Elements = 2048
"""Longer transforms are taken in two steps: the second cache holds a panel of so many
points, twice. [fft_long, bits]"""
THREADED_FFT_POINTS: Elements = 1 << 18
"""Transforms of as many points are shared by threads. [fft_shared]"""
IMPLICIT_CONVOLUTION_WORK: Multiplications = 1 << 15
"""Convolutions of fewer lay windows out: tables of places pay for larger ones.
[convolution, bits]"""
CONTIGUOUS_COLUMNS: Count = 32
"""From so many neighbours in memory on, tiles of a convolution are whole columns.
[convolution]"""
SLICED_CONVOLUTION_TERMS: Count = 64
"""Convolutions of up to so many products for each result are sums over slices: passes
over memory against laying windows out. [filter, bits]"""
SLICED_CONVOLUTION_FEATURES: Count = 4
"""The same of up to so many results from one place. [filter, bits]"""

# -- threads and time --------------------------------------------------------------

THREADED_WORK: Additions = 5 << 20
"""Launches of more are shared by threads: handing work over takes 2 to 12 us.
[threads]"""
SHARED_LAUNCH_WORK: Additions = 640 << 10
"""The same of launches in loops, between which threads look for the next one.
[launches]"""
SHARED_LAUNCHES: Count = 8
"""Times the work of other launches of a loop that the shared ones have at least: data
that one thread fetches from others' caches. [launches]"""
UNKNOWN_TURNS: Count = 8
"""Turns that an inner loop is taken to have where values say how many. [turns]"""
SHARED_TURNS_TIME: Nanoseconds = 30_000
"""Turns that would take longer, by what the first ones took, are shared. [turns]"""
SPINNING_TIME: Nanoseconds = 50_000
"""Time in which threads look for more turns before they sleep: a processor kept from
others against 10 to 50 us to wake one. [turns_in_steps]"""
FEW_TURNS: Count = 16
"""Turns of a loop that are written one after the other, though one side of a choice in
it writes: code against jumps that are foretold worse. [loop]"""
TURN_PARTS: Count = 64
"""Parts into which a loop's turns are cut, at most: numbers that all turns add to are
added up in each of them. [turns, bits]"""
TURN_PART_WORK: Additions = 1 << 20
"""Turns of a part cost as much at least, and a loop that is shared has a part for each
piece: a call against threads that wait. [turns, bits]"""
WAKING_SHARE: Count = 10
"""Times as long as waking a thread takes what is shared from `THREADED_WORK` on: with
more threads than the root of that quotient the last one comes too late. [threads]"""
MANY_THREADS: Count = 64
"""Launches that pay for fewer threads say so in the driver. [large]"""
PIECES_PER_THREAD: Count = 4
"""Pieces for each thread: one that wakes late costs little; each is a call.
[threads]"""
TOLD_PIECES: Count = 64
"""Launches that need more pieces, for signals, say so in the driver: a reader's eye
against waiting for an interrupt. [large]"""
PIECE_GRAIN: Elements = 64
"""Pieces of long ranges begin at a multiple: lines of the cache, whatever the dtype.
[threads]"""
ROUNDED_GRAINS: Count = 16
"""Ranges are long from so many grains in a piece on: shorter pieces would be unequal.
[threads]"""
KERNEL_WORK: Additions = 1 << 29
"""The most that a kernel computes before Python is back and handles signals: some
hundredths of a second against calls. [large]"""
SAFEPOINT_WORK: Additions = 1 << 24
"""What compiled loops compute before they look at the clock: about a millisecond,
against what looking costs. [loop]"""
SAFEPOINT_PERIOD: Nanoseconds = 100_000_000
"""How often signals are looked for: to ask for Python's lock takes milliseconds where
other threads have it. [loop]"""
ROUND_COST: Additions = 512
"""A round of a compiled loop besides its kernels: how often the clock is looked at.
[loop]"""
SCALAR_COST: Additions = 64
"""The same of an operation on a scalar in it. [loop]"""

# -- memory and machine code -------------------------------------------------------
POOLED_BYTES: Bytes = 1 << 18
"""Arrays of as many bytes have memory of our own: the C library recycles smaller ones
by itself, and a look into the list costs more. [pooled]"""
INLINED_KERNEL_TEXT: Characters = 1 << 13
"""Kernels of shorter text become part of routines that call them. [loop_of_rows]"""
CALLED_ROW: Count = 512
"""Kernels whose rows are as long never do: a call takes 12 ns. [loop_of_rows]"""
MODULE_TEXT: Characters = 1 << 16
"""Text of kernels in one LLVM module: what each costs against memory. [kernels]"""
ENGINE_OBJECTS: Count = 16
"""Object files that share one of LLVM's engines: an engine takes time to make, and
lives as long as any of them. [kernels]"""
SOURCE_CONSTANT_BYTES: Bytes = 4096
"""Constants of up to so many are written out in generated source. [constant]"""
FILLED_BYTES: Bytes = 1 << 16
"""Constants of more that are nearly one number are filled as programs run. [filled]"""
FILLED_PLACES: Count = 4
"""Such constants have another number at so many places at most. [filled]"""
STORE_KEY_BYTES: Bytes = 1 << 26
"""Programs with constants of more are not looked for in the store: what is read to know
them again against compiling. [stored]"""
STORE_PROGRAM_BYTES: Bytes = 1 << 24
"""Programs with constants of more are not kept there, as its bound is. [stored]"""
AOT_TEXT_BYTES: Bytes = 1 << 12
"""Constants of up to so many are LLVM text in exported files. [exported]"""
AOT_STACK_BYTES: Bytes = 1 << 13
"""Up to so many bytes between an exported program's kernels are on the stack, others
the C library's. [exported]"""


def operation_cost(primitive: str) -> Additions:
    """The cost of an operation on an element, by the primitive's name."""
    return OPERATION_COST.get(primitive, 1)
