"""ranges."""
