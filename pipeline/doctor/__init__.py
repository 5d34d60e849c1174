"""Looks at everything that must work together, and says what does not. Changes nothing."""
