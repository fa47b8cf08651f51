"""Child processes in which implementations are judged.

Takes names of cases and gives verdicts, even where an implementation crashes or hangs.
Start reading at `pool.WorkerPool`.

- `child`: one child process and its pipes
- `pool`: a pool of judging children, watched from outside
- `worker`: the main program of a child process
"""
