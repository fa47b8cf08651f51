"""The fusion of equations into clusters, one loop nest each.

Takes a flat program as a `Graph` and gives a `FusionPlan`: the values that live in
memory, and the clusters that compute them. Start reading at `fuse.fuse`.

- `clusters`: jobs of a program, and the clusters that they form
- `dataflow`: the dataflow graph of a program: producers, readers, index maps
- `demand`: demand analysis: values asked for at several indices or by several nests
- `fuse`: the fusion decision: which values live in memory, which are inlined
- `inplace_scatter`: scatters that overwrite an operand that is read no more
- `materialize`: values too expensive to compute twice, which are materialized
- `split_bodies`: cuts of long straight-line code into bodies of bounded size
"""
