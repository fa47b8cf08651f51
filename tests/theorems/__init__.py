"""The theorems of the chapter about judgements, tried on programs.

`small` makes all small programs, `trials` has one trial for each theorem, which gives a
line for each fault, `miniatures` what must fail it. `python -m theorems` tries them on
all small programs and on drawn ones, and keeps a record (`make theorems`).
"""
