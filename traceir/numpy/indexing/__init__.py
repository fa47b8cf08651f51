"""Reads and updates by index.

Takes an array and an index of NumPy's; plans it as slices and one gather or scatter,
and binds these. Start reading at `getitem.getitem`; `index_plan.plan_of` makes the
plan.

- `at_updates`: `x.at[index].set(y)`: an updated copy of an array
- `choices`: choices between elements, and where a condition holds
- `choose`: selection among several arrays or functions for each element
- `divisions`: divisions among the programs that a program calls
- `gather_inside`: reads at indices that are known to be in bounds
- `getitem`: reads by index: `x[index]`
- `index_grids`: indices of grids, diagonals and triangles
- `index_plan`: the plan of an index: the slices, and the windows that it gathers
- `integer_ranges`: interval analysis of integers, through loops and choices
- `intervals`: interval arithmetic: the range of a result by the ranges of its operands
- `loop_ranges`: the ranges of what a loop carries, which hold in every turn
- `nonzero`: indices of elements that are not zero, and compressed arrays
- `scattering`: copies of arrays with values scattered at an index
- `take_put`: `take`, `put` and their like along an axis
- `turn_places`: places of elements in arrays, as the turns of a loop reach them
"""
