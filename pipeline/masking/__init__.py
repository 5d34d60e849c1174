"""Raw text in, MaskedText out. Entries: `masker.mask`, `masker.recheck`, `inert.inert`."""
