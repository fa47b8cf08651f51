"""The commands of `python -m traceir`.

Takes the arguments of a command line and prints. Start reading at `tour.tour`.

- `cache`: `python -m traceir cache`: lists the store and removes entries
- `tour`: the tour: SELU from Python to machine code, step by step
"""
