"""Computing beside the server: in processes of their own, at low priority, off the path of a choice."""
