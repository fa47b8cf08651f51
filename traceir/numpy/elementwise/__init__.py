"""Functions applied element by element.

Takes operands of any dtypes and shapes; promotes and broadcasts them, then binds a
primitive or a composite. Start reading at `arithmetic.add`.

- `arithmetic`: arithmetic, exponentials and extrema
- `bits`: shifts and bit counts of integers
- `closeness`: nearly equal arrays, and parts of complex numbers
- `composites`: functions of several primitives, shown as one equation each
- `exponential`: exponentials, hyperbolic functions and cube roots
- `float_parts`: signs, mantissas and exponents of floating numbers
- `gcd`: greatest common divisors and least common multiples
- `logic`: comparisons and truth values
- `rounding`: rounding, remainders and special values
- `standard`: results of the Array API standard where JAX has others
- `trigonometric`: tangents, inverse trigonometric functions and angles
"""
