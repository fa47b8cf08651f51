"""Exact arithmetic: extended reals, complex numbers, special functions.

Takes Python fractions and gives exact values, or as many digits as are asked for. The
oracle computes with it. Start reading at `reals.Real`.

- `circulars`: tangents, inverse circular and error functions at exact points
- `complex_functions`: functions of exact complex numbers
- `complex_limits`: functions of complex infinities and NaNs
- `complexes`: exact complex numbers: pairs of extended reals
- `digits`: arbitrary precision, by mpmath
- `draws`: single draws of the gamma distribution, in double precision
- `formats`: numbers as bit patterns, and rounded to short formats
- `functions`: real functions that formulas may call, one point at a time
- `gammas`: gamma, Bessel and beta functions, and how well conditioned they are
- `hyperbolics`: hyperbolic functions and exponentials at exact points
- `numerics`: limits of dtypes, and rounding to a dtype
- `quadrature`: integrals in many digits, by Gauss' rule
- `reals`: exact extended reals: the floating elements of formulas
- `threefry`: the Threefry hash of random bits, on Python's integers
"""
