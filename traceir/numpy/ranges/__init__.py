"""Ranges, triangles and window functions.

Takes numbers and counts, gives vectors and matrices. Start reading at
`linspace.arange`.

- `geomspace`: numbers at equal ratios
- `linspace`: evenly spaced numbers
- `triangles`: triangles of matrices, and Vandermonde matrices
- `window_functions`: windows for signals, and the Bessel function of one
"""
