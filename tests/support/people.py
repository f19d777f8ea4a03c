"""Small simulated populations for tests."""

import numpy as np

import explorelab as xl
from explorelab.choices.table import Choices
from explorelab.choices.writing import choices_from_runs

MEANS = [0.0, 1.0, 2.0, 3.5, 1.5]


def population(agent=None, n=12, horizon=30, blocks=1, seed=0, task=None) -> Choices:
    """People who are all alike: so many copies of one agent on five arms along a line, each with so many blocks."""
    agent = xl.agents.stochastic_ucl(prior_mean=2.0, prior_var=4.0, temperature=0.6) if agent is None else agent
    task = xl.tasks.line(MEANS, 1.0) if task is None else task
    runs = xl.simulate(agent, task, horizon, n * blocks, seed, keep="trajectories", precision="double")
    everyone = choices_from_runs(runs, task)
    if blocks == 1:
        return everyone
    return Choices(**{
        **everyone.__dict__,
        "participants": tuple(str(i + 1) for i in range(n)),
        "participant": np.repeat(np.arange(n), blocks),
        "block": np.tile([str(b + 1) for b in range(blocks)], n),
    })  # fmt: skip
