"""Loop nests and compiled programs as data, and the schedule of a nest.

Takes a `Cluster` of equations and gives a `LoopNest`, which knows no target; a
`BufferProgram` is buffers and the steps that fill them. Start reading at
`build_nest.build`.

- `body_builder`: the straight-line code of a nest while it is built
- `build_nest`: clusters to loop nests: index maps become strides, equations nodes
- `element_numbers`: numbers of elements in the order of memory, as indices of loops
- `identifiers`: identifiers of generated source: those that it reserves for itself
- `indirect_access`: reads and writes at indices that are values
- `lower_clusters`: the clusters of a program as loop nests
- `nest`: loop nests as data, without a target
- `program`: a compiled program as data: buffers, and the steps that fill them
- `schedule`: the schedule of a nest: merged loops, their order, tiles, threads
- `specialize`: nests specialized to extents: constants, lanes, blocks
- `step_effects`: the buffers that steps read and write, and renaming of them
"""
