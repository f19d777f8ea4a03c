"""Who is paid what, and the files that pay them."""
