"""Bounds for the UCL algorithms: on visits, regret, transitions and their cost.

`published` holds the bounds of Reverdy, Srivastava and Leonard (2014), `corrected` those of its appendix G with every
term written out; `all_bounds` puts all that concerns one task into one table. NumPy and SciPy only, float64, over arrays
of horizons.
"""

from explorelab.theory import corrected, published
from explorelab.theory.arm_sums import cost_of_transitions, gaps, lai_robbins_regret, lai_robbins_visits, regret_of_visits
from explorelab.theory.bounds_table import AlgorithmName, all_bounds
from explorelab.theory.priors import PriorError, prior_error, prior_quality
from explorelab.theory.quantile import (
    BETA,
    CREDIBILITY_SCALE,
    SMALLEST_BETA,
    quantile_lower_bound,
    quantile_upper_bound,
    schedule_quantile_lower_bound,
    schedule_quantile_upper_bound,
    upper_quantile,
)
from explorelab.theory.remainder import FIRST_QUANTILE, best_epsilon

__all__ = [
    "BETA",
    "CREDIBILITY_SCALE",
    "FIRST_QUANTILE",
    "SMALLEST_BETA",
    "AlgorithmName",
    "PriorError",
    "all_bounds",
    "best_epsilon",
    "corrected",
    "cost_of_transitions",
    "gaps",
    "lai_robbins_regret",
    "lai_robbins_visits",
    "prior_error",
    "prior_quality",
    "published",
    "quantile_lower_bound",
    "quantile_upper_bound",
    "regret_of_visits",
    "schedule_quantile_lower_bound",
    "schedule_quantile_upper_bound",
    "upper_quantile",
]
