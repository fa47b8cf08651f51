"""Checks and conversions of operands, before a primitive sees them.

Takes what a user passed; gives arrays, tracers, shapes and axes that a primitive may
have, or raises an error with its rule. Start reading at `operands.operands`.

- `accuracy`: the accuracy that functions are asked for
- `attribute_hints`: names of public packages, and errors for others
- `int_ranges`: Python ints, checked to fit a dtype
- `operands`: operands checked, typed, converted and broadcast
- `precision`: the precision that products are asked for
- `shapes`: shapes and axes, checked
- `warnings`: warnings at the user's line
"""
