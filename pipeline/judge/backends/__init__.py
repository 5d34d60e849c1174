"""The ways in which a model is asked; a file each."""
