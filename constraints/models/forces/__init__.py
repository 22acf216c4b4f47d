"""Springs and dampers of model files, as laws of forces."""
