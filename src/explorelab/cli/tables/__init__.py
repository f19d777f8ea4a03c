"""Tables that the command line prints."""
