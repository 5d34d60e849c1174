"""Puts the hook and the nightly schedule into other programs' files, and takes them out again."""
