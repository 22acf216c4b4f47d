"""Compiled kernels on disk: files that are executed, and so are taken only from those who may say what runs."""
