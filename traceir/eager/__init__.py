"""eager."""
