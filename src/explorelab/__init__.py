"""A laboratory for explore-exploit tasks.

    import explorelab as xl

    task = xl.tasks.landscape("B")
    agent = xl.agents.stochastic_ucl(prior_mean=200, prior_var=10, length_scale=4, temperature=1)
    runs = xl.simulate(agent, task, horizon=90, n_replicates=1000, seed=0)

Names load when they are first used: the command line answers `--help` without waiting for JAX.
"""

import lazy_loader

__version__ = "0.1.0"

# The names and where they come from stand in __init__.pyi, which type checkers read too.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
