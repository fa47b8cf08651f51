"""Machine code and programs as entries of the store (`traceir.store`)."""
