"""systems."""
