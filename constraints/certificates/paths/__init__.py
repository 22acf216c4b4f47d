"""Certificates of paths and sweeps: legs, what is tried of them, and the premises of their check."""
