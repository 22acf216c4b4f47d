"""What kernels stand on: the compiler, their place on the disk, the map of their memory."""
