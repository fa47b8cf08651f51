"""Control flow on traced values: choices and loops whose bodies are programs."""
