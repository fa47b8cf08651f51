"""What was compiled, kept in files for the processes that come after."""
