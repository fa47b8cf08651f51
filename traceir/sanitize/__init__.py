"""Sanitizers: checks for overflow, NaN and reused keys while programs run.

Takes the operands and results of each operation, raises an error at the user's line.
Start reading at `taint.look`.

- `key_reuse`: keys that are used twice, while `debug_key_reuse` is set
- `fault_checks`: faults in the results of single operations
- `nan_checks`: NaN and infinity checks of results, for `debug_nans`
- `taint`: programs run with faults tracked per element to the results
"""
