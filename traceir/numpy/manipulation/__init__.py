"""manipulation."""
