"""What was computed once, kept in files for the processes that come after."""
