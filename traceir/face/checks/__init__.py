"""The checks that a plain function may fail by when its program runs.

Serves: index.bounds, staged.raised, staged.handler

An index, an assertion or an exception that traced values decide on becomes a check. It
is noted while the function is traced and has a number; a program's status is the number
of the first check that failed, with the values that its error shows. Start reading at
`status.note`.

- `bounds`: bounds checks of indices that are traced: an IndexError at run time
- `exceptions`: exceptions of a program: made while it is traced, raised afterwards
- `handlers`: the `except` clauses around what is traced, and what they can't take
- `status`: checks at run time, and the status of a program: which one failed first
"""
