"""Twice Told: mines the corrections that people give their coding agent."""

__version__ = "0.1.0"
