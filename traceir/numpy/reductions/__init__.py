"""Reductions along axes, statistics and histograms.

Takes an array and axes, gives an array without these, or with extent 1. Start reading
at `reductions.sum`.

- `covariance`: weighted means, covariance, and variance without NaN
- `cumulative`: cumulative sums and products along an axis
- `diagonals`: diagonals: read from matrices, and written into them
- `histograms`: counts of numbers and of bins
- `mean_var`: mean, variance and standard deviation
- `nan_reductions`: reductions that ignore NaN, counts and ranges
- `quantiles`: medians, quantiles and percentiles, with NaN and without
- `reductions`: sums, products, extrema and truth over axes
"""
