"""Live results for programs of a lab's own: what has happened since they last asked, and the tokens that let them ask."""
