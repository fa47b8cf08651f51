"""polynomials."""
