"""References: cells for arrays, which functions read and write.

A `Ref` is read and written by an index, inside traced functions and outside. A traced
function that uses some becomes a program of their arrays. Start reading at
`reference.Ref`.

- `calls`: references at the border of a traced function
- `cells`: cells for arrays: which trace has the array of one, read and written
- `places`: places of arrays that references name by an index
- `reference`: `Ref`: a cell for an array, indexed as the array is
"""
