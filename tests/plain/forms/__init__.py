"""Small functions with loops and choices, one for each form of them."""
