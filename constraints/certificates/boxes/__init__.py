"""What is proved of whole boxes: that no solution is in them, or that all of them are known."""
