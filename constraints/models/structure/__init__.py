"""What readers make: mechanisms, and the tree that they are built from."""
