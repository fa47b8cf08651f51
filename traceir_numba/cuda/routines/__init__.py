"""routines."""
