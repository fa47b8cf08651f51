"""Pytrees: nested containers of arrays, flattened to leaves and a structure.

Takes any nest of containers, gives leaves and a `TreeDef`, and back. Start reading at
`flatten.flatten`.

- `flatten`: flattening and unflattening of trees, and maps over them
- `key_path`: key paths: the steps from a tree to a leaf
- `node_types`: the kinds of node: how each container type comes apart
- `registry`: registration of node types
- `treedef`: structures of pytrees, interned: equal ones are one object
- `typed_equality`: equality of values that tells types apart
"""
