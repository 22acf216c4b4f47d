"""The compiled engine: problems packed into flat arrays, and kernels that solve them (extra `fast`)."""
