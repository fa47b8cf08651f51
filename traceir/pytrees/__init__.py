"""pytrees."""
