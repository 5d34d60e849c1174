"""Reads the transcripts of Claude Code: bytes in, turns out."""
