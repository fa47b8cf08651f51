"""The commands of `traceir`.

Takes the arguments of a command line and prints. Start reading at `tour.tour`.

- `cache`: `traceir cache`: the store in a few lines, its entries, and their removal
- `run`: `traceir run`: a program, and what it traced and compiled
- `scripts`: programs of the user, as modules, and their own tracebacks
- `show`: `traceir show`: the jaxpr, source or assembly of a function in a file
- `spec`: `traceir spec`: a rule or a primitive as the tables have it
- `tour`: the tour: a loop before and after, then SELU from Python to machine code
"""
