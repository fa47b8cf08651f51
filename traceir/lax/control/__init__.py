"""Control flow on traced values: choices, loops and scans.

Takes functions of the user's, traces each into a program (`bodies.trace_body`), and
binds one `cond`, `while` or `scan` equation. Start reading at `choice.cond`.

- `agree`: checks that branches agree with one another, and bodies with their carry
- `associative`: `associative_scan`: prefix scans in few parallel steps
- `bodies`: bodies of control flow: traced once, closures turned into operands
- `choice`: choices: `cond` and `switch`
- `loops`: loops with a condition or a range: `while_loop` and `fori_loop`
- `references`: references in bodies: carried by loops, results of branches
- `scans`: loops over the rows of arrays: `scan` and `map`
- `wrappers`: wrappers of a user's function, one object for each function
"""
