"""One run over the transcripts: read, classify, mask, store, count."""
