"""The table of exhibits, in the order of the page."""

from __future__ import annotations

from explorelab.paper import blocks, growth, human_task, limit_figures, prior_figures, rival_figures
from explorelab.paper.exhibit import Entry

EXHIBITS: tuple[Entry, ...] = (
    Entry(
        "01-quantile-bounds",
        "Bounds on the normal quantile",
        "The paper's figure of the quantile function with its bounds, section IV",
        limit_figures.quantile_bounds,
        figures=(4,),
        simulates=False,
    ),
    Entry(
        "02-limit",
        "The parts of the upper credible limit",
        "The paper's three figures on UCB1 and the quantile, section II",
        limit_figures.components,
        figures=(1, 2, 3),
        simulates=False,
    ),
    Entry(
        "03-landscapes",
        "The landscapes of the human task",
        "The paper's figure of the two landscapes, section V.A",
        human_task.landscapes,
        figures=(6,),
        simulates=False,
    ),
    Entry(
        "04-linear-and-log",
        "Linear and logarithmic regret from one algorithm",
        "The paper's figure of the two simulated examples, section V.C",
        human_task.linear_and_log,
        figures=(8,),
    ),
    Entry(
        "05-block-regret",
        "Regret of block UCL",
        "The paper's figure of block UCL's regret, section VI",
        blocks.block_regret,
        figures=(10,),
    ),
    Entry(
        "06-block-cost",
        "Transition cost of block UCL",
        "The paper's figure of block UCL's transition cost, section VI",
        blocks.block_cost,
        figures=(11,),
    ),
    Entry(
        "07-graphical",
        "Regret of graphical block UCL",
        "The paper's figure of graphical block UCL's regret, section VII",
        blocks.graphical,
        figures=(13,),
    ),
    Entry(
        "08-corrected-bounds",
        "Published and corrected bounds",
        "Companion to the corrected proofs, appendix G",
        growth.corrected_bounds,
    ),
    Entry(
        "09-correlated-priors",
        "Correlated and uncorrelated priors",
        "Companion to the theorem on correlated priors, section IV",
        prior_figures.correlated_priors,
    ),
    Entry(
        "10-prior-quality",
        "Good and bad priors",
        "Companion to the remarks on informative priors and on sub-logarithmic regret, section IV",
        prior_figures.prior_quality,
    ),
    Entry(
        "11-rivals",
        "UCL among its rivals",
        "Companion to the remark on UCB1, section IV",
        rival_figures.comparison,
    ),
    Entry(
        "12-growth",
        "How fast regret grows",
        "Companion to the regret theorems, sections II and IV",
        growth.growth,
    ),
)
