"""Functions with batching rules of their own."""
