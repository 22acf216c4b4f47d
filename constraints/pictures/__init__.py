"""Pictures: the one room that draws, with matplotlib, imported on use."""
