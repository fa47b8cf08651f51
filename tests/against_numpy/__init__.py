"""Imperative programs over views, by NumPy and under the drop-in decorator."""
