"""Functions of one part of each array, by its former place."""

from traceir.transforms.batching.shard_map import shard_map

__all__ = ["shard_map"]
