"""Formulas of the tables as mathematics: MathML and LaTeX of one tree."""
