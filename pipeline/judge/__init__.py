"""Two models sort what the rules leave undecided, where somebody asked for it."""
