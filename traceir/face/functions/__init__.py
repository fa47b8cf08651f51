"""NumPy's functions on traced arrays, by their own names.

Takes a function of NumPy's and its arguments; gives what NumPy would, as traced arrays.
Start reading at `functions.apply`.

- `captured`: NumPy arrays that a traced function reads from outside
- `chosen`: functions of NumPy's that choose elements: `np.unique`, `np.extract`
- `copies`: functions that copy where there can be no view
- `creation`: arrays created inside a plain function
- `flat`: writes in C order to an array of any layout: `flat`, `sort`, `partition`
- `functions`: dispatch of NumPy's functions to those of `traceir.numpy`
- `searched`: functions of NumPy's that look for places in an order
- `selection`: the elements that a traced mask selects: an array of unknown length
- `substitutes`: functions of NumPy's that need code of their own here
- `tables`: the dtypes in which NumPy's functions compute, by name
- `triangles`: functions of NumPy's that read one triangle of a matrix
- `ufunc_methods`: methods of universal functions: `reduce`, `accumulate`, `at`
- `ufuncs`: universal functions: their loops, casts and `out`
- `writing`: writes to arrays: by index, by mask, through views
"""
