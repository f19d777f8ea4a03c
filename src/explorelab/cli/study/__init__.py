"""The commands of `explorelab study`."""
