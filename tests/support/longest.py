"""The files of tests that take longest to run."""

LONGEST = (
    "simulation/test_simulate.py",
    "fitting/bayes/test_hierarchical.py",
    "contract/test_precision.py",
    "cli/test_resuming.py",
    "contract/test_long_work.py",
    "simulation/test_against_reference.py",
    "contract/test_likelihood.py",
    "fitting/test_fit.py",
    "contract/test_ties.py",
    "paper/test_reproduce.py",
    "simulation/test_division_of_work.py",
    "agents/rules/test_choice_rules.py",
    "comparison/test_wu2018_published.py",
    "agents/named/test_rivals.py",
    "contract/test_gradients.py",
    "comparison/test_loo.py",
    "agents/rules/test_best_arm.py",
    "fitting/test_silent_people.py",
    "companions/test_saving.py",
    "simulation/test_numbers_to_expect.py",
    "contract/test_own_parts.py",
    "theory/test_growth.py",
    "_support/work/test_units.py",
    "_support/work/test_cluster.py",
)
"""The longest first. They begin first, so that none runs alone at the end."""
