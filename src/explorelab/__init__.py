"""A laboratory for explore-exploit tasks.

    import explorelab as xl

    task = xl.tasks.landscape("B")
    agent = xl.agents.stochastic_ucl(prior_mean=200, prior_var=10, length_scale=4, temperature=1)
    runs = xl.simulate(agent, task, horizon=90, n_replicates=1000, seed=0)

Names load on first use, so that the command line can answer `--help` without waiting for JAX.
"""

import lazy_loader

__version__ = "0.1.0"

# __init__.pyi lists the names and their modules; type checkers read it too.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
