"""elementwise."""
