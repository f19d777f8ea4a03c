"""People's regret and its phenotypes: the form that each curve follows."""
