"""Rewrites of a program before fusion: the same bits, fewer primitives.

Each pass takes a `ClosedJaxpr` and gives one: flat, real, without 16-bit arithmetic,
with large products as calls. Start reading at `canonicalize.canonicalize`.

- `canonicalize`: inlining, common subexpressions, constant folding
- `dce`: dead-code elimination, within control flow too
- `filled_constants`: large constants that are nearly one number: made at run time
- `fold_ranges`: simplification by ranges of integers: wraps and clamps go
- `foreign_scopes`: the scopes of foreign functions: what is open while code calls them
- `hoist_reshapes`: reshapes moved up to values that are in memory anyway
- `host_partition`: programs cut at their host calls, and driven from Python
- `loop_invariants`: loop-invariant code motion, out of loops and choices
- `matmul`: matrix products: small ones as sums, large ones as calls
- `merge_loops`: loops that follow one another as one region, which becomes one routine
- `narrow`: numbers of few bits: stored as bits, computed with in float32 or int8
- `pair_types`: the types of values of two numbers, and loops and choices over them
- `side_exits`: side exits: a check that fails leaves its loop
- `split_loops`: index-set splitting: the turns in which no place can be outside
- `split_pairs`: complex numbers and keys split into the numbers that they are
"""
