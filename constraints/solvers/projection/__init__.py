"""The front door: projectors, what they give, and batches over many workers."""
