"""The intermediate representation: abstract values, jaxprs and their types.

A program is a `ClosedJaxpr`: equations over variables of type `ShapedArray`, typed by
the tables. Start reading at `jaxpr.ClosedJaxpr`; `typecheck.check` checks one.

- `atoms`: atoms of programs: typed variables, and scalars written as they are
- `avals`: abstract values: shape, dtype, weakness
- `checkpoint_policies`: policies of `checkpoint`: which results reverse mode saves
- `dependence`: the operands that one result of an equation is computed from
- `effects`: effects of equations: the things they do besides giving results
- `jaxpr`: jaxprs: programs in typed A-normal form
- `located`: programs whose equations stand at lines of the caller
- `name_stack`: name stacks: scopes and transforms that an equation is recorded in
- `notebooks`: representations for notebooks: HTML of programs, source and tables
- `params`: params of equations: sorted by name, and looked up by it
- `program_cost`: the cost of a program: arithmetic, and bytes of equations and buffers
- `promotion`: type promotion: the dtype in which operands meet
- `structs`: types of arrays as programs write them: a shape and a dtype
- `typecheck`: type inference of primitives and checks of programs, by the tables
- `unroll_report`: the source lines that make a program long
"""

from traceir.base.moved_modules import attributes_of

# A module had this name.
__getattr__ = attributes_of("traceir.ir.jaxpr")
