"""hot_path."""
