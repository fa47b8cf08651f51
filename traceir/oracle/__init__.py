"""The oracle: programs run by the tables alone, element by element.

Takes a jaxpr and arrays; gives exact results, or judges another's by the accuracy sets
of the rows. Types and runs are derived by the inference rules. It uses none of the
kernels and not the checker, and reads and prints by itself. Start reading at
`scalar_interpreter.run`.

- `abstract_syntax`: programs as terms of the abstract syntax, of which rules speak
- `accuracy`: the accuracy sets: tests whether an element is near enough
- `derivations`: derivations: judgements made by the inference rules of the tables
- `device_programs`: programs of parts of devices, as programs of whole arrays
- `ebnf`: grammars in EBNF, read as data
- `finite_differences`: derivatives that rows must have, by differences of their `value`
- `grammar`: texts parsed by a grammar that is read as data
- `layout`: text on lines of a width: what fits one line, or each part on its own
- `numbers`: numbers of program text, read and written
- `printing`: programs printed by the rows of `text.toml` and of their primitives
- `read_values`: values of params that the grammar spells in ways of their own
- `reading`: programs read by the grammar: the rows alone say what a text leaves out
- `relations`: the relations that rows demand of results, such as `q @ r = a`
- `scalar_interpreter`: the interpreter of programs on exact numbers, and the judge
- `transforms`: transforms by the inference rules: programs made of programs
"""
