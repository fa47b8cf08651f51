"""Arrays put together: tiled, padded, inserted into.

Takes arrays and counts or positions, gives larger arrays. Start reading at
`padding.pad`.

- `index_tricks`: objects that are indexed, not called: `mgrid`, `r_` and others
- `insert_delete`: elements inserted and deleted
- `padding`: padded arrays
- `tiling`: elements and arrays repeated and broadcast
"""
