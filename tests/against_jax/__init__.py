"""Differential fuzzing against JAX: the same program text run by both."""
