"""Bounds for the UCL algorithms: on visits, regret, transitions and their cost.

`published` holds the bounds of Reverdy, Srivastava and Leonard (2014), `corrected` those of the paper's appendix G with
every term written out; `all_bounds` puts everything about one task into one table. All functions take arrays of horizons
and use only NumPy and SciPy, in float64.
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
