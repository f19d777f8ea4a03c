"""Speed and memory against peers and floors."""
