"""Tools of a checkout, which no wheel has: `costs`, `gpu_check`, `new_primitive`."""
