"""Buffer assignment, and control flow as routines over buffers.

Takes a `BufferProgram`, steps over buffers (`loops.program`), and gives one that needs
less memory; a `cond`, `while` or `scan` equation becomes a `Routine`, a function whose
buffers are all made before it runs. Start reading at `lower_control_flow.routine_of`;
memory is shared by `buffer_assignment.assign_buffers`.

- `buffer_assignment`: buffers that reuse the memory of others that are dead
- `exchanged_results`: results that a loop's arrays leave in memory that changes places
- `independent_turns`: turns of a loop that need not wait for one another
- `loop_carries`: moves of a loop's carried values from one iteration to the next
- `lower_control_flow`: loops and choices as routines: steps over buffers
- `overwriting`: kernels and steps that write a new array over an old one, and which may
- `routine_buffers`: the buffers of a routine: its arguments, and memory of its own
- `share_loops`: loops of a routine whose turns threads share, as functions of their own
"""
