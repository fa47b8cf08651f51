"""Emitters that combine many elements: reductions, windows, convolutions.

Takes an equation and gives an entry of `emitters.kinds`, or a program of smaller
primitives. Start reading at `reductions.reduction`.

- `collectives`: collectives: reductions over the dimensions of mapped axes
- `convolutions`: convolutions: sums over slices, or one matrix product
- `cumulative`: prefix sums, products and extrema
- `reductions`: reductions: their accumulators, and a fixed tree that joins them
- `searches`: searches for extremes along rows, as two reductions
- `strided_convolutions`: large convolutions: one product over strided windows
- `windows`: reductions of windows, in terms of slices of a padded operand
"""
