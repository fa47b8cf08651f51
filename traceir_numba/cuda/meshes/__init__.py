"""Programs on several devices: each runs its part, and they exchange memory.

Takes a program of one device's part, with collectives over `RankAxis`, and the parts of
the arguments; gives the parts of the results. One program is compiled for all devices,
cut where they exchange something. Start reading at `run.MeshExecutable`.

- `collectives`: collectives as exchanges of memory, and the share of each device
- `cut`: programs of parts, cut where devices exchange something
- `exchange`: exchanges of memory by copies from one device to another
- `run`: a program of parts on the devices of a mesh, each with a stream of its own
"""
