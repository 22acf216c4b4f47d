"""Files that somebody else wrote: their bytes, with limits, and what is beside the text of XML."""
