"""Special functions as source: gamma, beta, Bessel and error functions.

Each module has functions of float64 and of float32. Start reading at
`gamma.lgamma_f64`.

- `bessel`: modified Bessel functions
- `beta`: the incomplete beta function
- `gamma`: the logarithm of gamma and its derivative
- `gaussian`: the error function and its inverse
- `incomplete`: incomplete gamma functions
- `power_sums`: the zeta and polygamma functions
"""
