"""The decision procedure: which pieces of a line a person typed to the agent."""
