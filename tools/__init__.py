"""Tools of a checkout, which no wheel has: `gpu_check`."""
