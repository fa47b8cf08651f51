"""sanitize."""
