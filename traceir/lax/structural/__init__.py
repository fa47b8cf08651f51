"""structural."""
