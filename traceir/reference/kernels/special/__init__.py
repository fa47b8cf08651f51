"""Kernels of special functions.

Takes floating arrays, gives arrays of their dtype, mostly by SciPy in float64. Start
reading at `in_float64.of_scipy`.

- `bessel`: kernels of modified Bessel functions
- `beta`: the kernel of the incomplete beta function
- `gaussian`: kernels of the error function, its complement and its inverse
- `in_float64`: kernels that compute in float64, whatever the floating dtype is
- `incomplete`: kernels of incomplete gamma functions and their derivatives
- `loggamma`: kernels of the logarithm of gamma and its derivative
- `power_sums`: kernels of the zeta and polygamma functions
"""
