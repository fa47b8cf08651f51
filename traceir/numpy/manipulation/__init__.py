"""Reshaping, joining, splitting and reordering.

Takes arrays, gives arrays of the same elements in other places. Start reading at
`shapes.reshape`.

- `packbits`: truth values packed as the bits of bytes
- `rearrange`: elements in another order: flips, rolls, differences
- `shapes`: the reshape family and joining
- `split`: arrays split along an axis
- `stacking`: arrays raised to a rank and stacked
- `trim_zeros`: arrays without leading and trailing zeros
"""
