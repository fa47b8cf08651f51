"""Batching: `vmap`, `pmap`, `shard_map`, and rules of classes of primitives.

Takes a function of one example, gives one of a batch: `BatchTracer`s carry one
dimension more. Start reading at `vmap.vmap`.

- `axis_specs`: specifications of mapped axes, and their sizes
- `batch_trace`: the trace that batches: one example is traced, all are computed
- `batching_rules`: batching rules, one per class of primitives
- `collectives`: collectives over the mapped axis, as movements of data
- `convolution`: the batching rule of convolutions
- `parts`: a function of parts, applied on the devices along axes of a mesh
- `placed`: operations applied once to whole batches, as their rows say
- `pmap`: `pmap`: one example to each device
- `rank_collectives`: collectives over a mapped axis with examples in several processes
- `shard_map`: `shard_map`: a function of parts, applied on each device of a mesh
- `shard_map_equation`: `shard_map` as an equation, and the program that it stands for
- `vmap`: `vmap`: a function of one example becomes one of a batch
"""
