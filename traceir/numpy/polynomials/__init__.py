"""Polynomials, and calculus on samples.

Takes coefficients or samples, gives arrays. Start reading at `polynomials.polyval`.

- `gradient`: derivatives, integrals and jumps of sampled functions
- `polynomials`: polynomials as vectors of coefficients, the highest power first
- `roots`: roots of polynomials, and complex numbers in order
"""
