"""Functions of functions: derivatives and batches of whatever can be traced."""
