"""binding."""
