"""Concrete arrays: NumPy buffers with a type that knows weakness. Serves: array.*

Takes a NumPy array and a `ShapedArray`; gives an immutable `Array`. Start reading at
`array.Array`.

- `array`: `Array`: an immutable NumPy array with a type that knows weakness
- `array_interface`: the methods that arrays and tracers have in common
- `asks`: Python's questions to arrays and traced values, answered or refused by rows
- `devices`: the devices, where arrays live: groups of a processor's threads, and GPUs
- `divided`: arrays in the memories of a backend's devices, a part in each
- `laying`: values laid out on devices, arrays and traced ones
- `layout`: the order of an array's elements in memory, with where it lies
- `meshes`: meshes: devices in arrays whose dimensions have names
- `placement`: the place of an array's elements: its layout, and its shards
- `process_mesh`: a mesh over several memories: the block that each process, or GPU, has
- `propagation`: layouts of results on devices, found from those of operands
- `sharding`: layouts of arrays over devices: specs, and shardings of them
- `shards`: shards: the parts of an array, each on the device that holds it
"""
