"""What tests, benchmarks and evaluations share."""
