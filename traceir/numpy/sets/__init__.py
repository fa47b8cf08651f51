"""Sorting, searching and set operations.

Takes arrays, gives arrays whose sizes may depend on values. Start reading at
`unique.unique`.

- `searching`: positions in sorted arrays, and linear interpolation
- `setops`: intersections, unions and differences of two arrays
- `sorting`: elements in order along an axis
- `unique`: distinct values, with their indices, counts and inverse
"""
