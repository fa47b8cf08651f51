"""The specification's engine: tables of named rules, and the language of their formulas."""
