"""What the agent is shown: the files that the hook reads, and what stands in them."""
