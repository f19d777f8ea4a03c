"""Files that are not written as explorelab writes them, read into the same rows."""
