"""Long work in units: divided among threads, processes or machines, and kept when it is finished."""
