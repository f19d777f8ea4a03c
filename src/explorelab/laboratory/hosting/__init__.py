"""The folder of a laboratory, and its studies on one server."""
