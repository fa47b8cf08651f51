"""Loops and choices of a plain function as they are written."""
