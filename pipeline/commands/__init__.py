"""One module a command: a context and parsed arguments in, an exit code out."""
