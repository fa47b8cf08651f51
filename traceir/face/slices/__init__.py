"""Slices whose bounds are values: `a[lo:hi]` with traced `lo` and `hi`.

Serves: slice.*

Takes an array and an index; gives a view of known extents where the distance of the
bounds is known, else an array whose extent is a value, which is reduced, multiplied and
written by loops over its elements. Start reading at `indexing.read`, then at
`dynamic_array.DynamicArray`.

- `assignment`: updates of slices whose bounds are values: loops that write elements
- `created`: arrays made with as many elements as values decide
- `delayed_arrays`: arrays by their elements: extents, a dtype, what is at some places
- `dynamic_array`: arrays with extents that values decide, as a plain function sees them
- `element_loops`: loops over elements, which are recorded as loops of the user's are
- `extents`: extents that values decide, and the dimensions of slices with such bounds
- `indexing`: reads and writes of arrays by slices whose bounds are values
- `joined`: NumPy's functions that join, repeat and count, where values decide extents
- `linear_forms`: integers of a trace as sums of others, and their ranges
- `ordered`: NumPy's functions that put vectors in order whose extents values decide
- `places`: places that an array of them takes, beside whole dimensions or numbers
- `reductions`: NumPy's functions of arrays whose extents values decide
- `selected`: elements that traced masks select, beside one another
- `sliced_view`: views whose bounds are values: the places of an array that they take
- `vectors`: NumPy's functions of vectors whose extents values decide, no reductions
"""
