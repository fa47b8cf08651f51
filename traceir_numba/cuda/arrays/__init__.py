"""Arrays in a device's memory, and those of other libraries. Serves: array.*

Takes NumPy arrays, or arrays with DLPack or `__cuda_array_interface__`; gives
`DeviceArray`s, which stay on the device between calls. Start reading at
`arrays.DeviceArray`.

- `arrays`: arrays that lie in a device's memory, between calls too
- `dlpack`: DLPack capsules: written for other libraries, and read from them
- `foreign`: arrays of other libraries, used without a copy and given back
- `strided_copies`: copies of strided arrays into one contiguous block
"""
