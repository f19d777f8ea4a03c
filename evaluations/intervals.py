"""Whether intervals of single people hold, by their posterior's mode and curvature, and by weighing points of it.

    python -m evaluations.intervals     # the model of docs/own-models.md, 300 people drawn from its prior, 120 choices each

Parameters are drawn from the prior of the fit, so intervals of the exact posterior hold the truth in 95 % of people: what
is missing from that is the approximation's.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.special import logsumexp

DOCS = Path(__file__).parents[1] / "docs"


def two_rates():
    """The model of the page."""
    page = (DOCS / "own-models.md").read_text(encoding="utf-8")
    code = re.search(r"^```python file=my_model.py\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    folder = tempfile.mkdtemp()
    Path(folder, "my_model.py").write_text(code[1], encoding="utf-8")
    sys.path.insert(0, folder)
    from my_model import two_rates

    return two_rates


def covered(n: int, seed: int) -> dict[str, np.ndarray]:
    """For each kind of interval and each parameter, whether it holds the truth of each person."""
    import explorelab as xl
    from explorelab.fitting.effects.weighing import Normals, points_around
    from explorelab.fitting.model import prepare
    from explorelab.fitting.results import on_natural_scale

    agent, rng = two_rates(), np.random.default_rng(seed)
    blank = xl.blank_choices(xl.tasks.bandit([0, 0.5, 1, 1.5]), n_participants=n, horizon=120)
    first = xl.simulate_choices(blank, agent, seed=seed, progress=False)
    space = {each.name: {"centre": each.centre, "spread": each.spread} for each in prepare(first, agent).space}
    fitted = prepare(first, agent, space=space)
    z = rng.standard_normal((n, len(space)))
    natural = on_natural_scale(fitted.space, z)
    played = xl.simulate_choices(blank, agent, dict(zip(space, natural.T, strict=True)), seed=seed + 1, progress=False)
    found = xl.fit(played, agent, "map", n_starts=4, space=space, progress=False)["estimates"].to_dataset()
    at, spread = found["z"].values, found["z_covariance"].values
    half = 1.96 * np.sqrt(np.diagonal(spread, axis1=1, axis2=2))
    fitted = prepare(played, agent, space=space)
    points = points_around(fitted, Normals(at, spread), played.participant, np.ones(n, bool), seed, False)
    log_weight = points.likelihood + points.density - 0.5 * (points.at**2).sum(-1)
    weight = np.exp(log_weight - logsumexp(log_weight, axis=1, keepdims=True))
    below = np.einsum("nq,nqp->np", weight, points.at < z[:, None])
    return {
        "names": np.array(list(space)),
        "mode and curvature": np.abs(at - z) < half,
        "weighed points": (below > 0.025) & (below < 0.975),
    }


def main() -> None:
    """Run the evaluation from the command line."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--n", type=int, default=300)
    ask.add_argument("--seed", type=int, default=0)
    told = ask.parse_args()
    found = covered(told.n, told.seed)
    names = found.pop("names")
    for kind, holds in found.items():
        share = holds.mean(0)
        se = np.sqrt(share * (1 - share) / told.n)
        parts = (f"{name} {100 * a:.1f} ± {100 * b:.1f} %" for name, a, b in zip(names, share, se, strict=True))
        print(f"{kind}: {', '.join(parts)}")


if __name__ == "__main__":
    main()
