"""A study for tests: folders, servers, people, faults."""
