"""Creation of arrays, their dtypes, and their input and output.

Takes Python values, shapes, text and files; gives arrays. Start reading at
`creation.array`.

- `aliases`: other names of dtypes, kinds of dtypes and constants
- `array_api`: the namespace functions of the Array API standard
- `creation`: arrays made of Python values and of shapes
- `dtypes`: dtypes as `traceir.numpy` names them, and constants
- `foreign_values`: values that are no arrays, numbers or lists, read as such
- `io`: arrays as text, in files and from buffers
- `nested_lists`: lists among the entries of an index
- `sequences`: nested sequences of numbers and arrays as one array
- `small_dtypes`: names of dtypes of ml_dtypes that no array has
- `viewing`: elements seen as the bits of another dtype
"""
