"""Parts of walks: what they give back, and why a task cannot be done, seen before anything is planned."""
