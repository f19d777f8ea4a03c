"""Figures on the limit itself: its parts, and the bounds on its quantile."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from explorelab import theory
from explorelab.paper.exhibit import Effort, Exhibit, exhibit
from explorelab.plots.style import BLUE, GREEN, GREY, INK, VERMILION, Drawing
from explorelab.plots.words import number


def components(effort: Effort) -> Exhibit:
    """The limit of three arms, and how it comes from the belief's density and distribution function."""
    mean, visits, t = np.array([0.9, 1.5, 1.5]), np.array([8, 12, 3]), 24
    alpha_t = 1 / (theory.CREDIBILITY_SCALE * t)
    width = theory.upper_quantile(alpha_t) / np.sqrt(visits)
    limit = mean + width
    drawing = Drawing([["a", "b", "c"]], height=2.9)
    _draw_arms(drawing, mean, width)
    _draw_belief(drawing, alpha=0.1)
    chosen = int(limit.argmax())
    finding = (
        f"At t = {t} the three arms have the limits {', '.join(number(q) for q in limit)}: arms 2 and 3 have the same mean, "
        f"{mean[chosen]:g}, but arm 2 has been seen {visits[1]} times and arm 3 only {visits[2]} times, so arm "
        f"{chosen + 1} is "
        f"chosen. For α = 0.1 the limit lies C = {number(theory.upper_quantile(0.1), 4)} standard deviations above the mean."
    )
    differs = (
        "The paper draws confidence intervals of UCB1 in (a); these are computed credible limits of UCL. It prints no "
        "numbers; the means and visits are ours."
    )
    settings = {
        "Belief": f"noise variance 1, uninformative prior, visits {', '.join(map(str, visits))}",
        "Seed": "none (nothing is random)",
    }
    return exhibit(drawing, finding, differs, settings)


def _draw_arms(drawing: Drawing, mean: np.ndarray, width: np.ndarray) -> None:
    axes = drawing.panel("a", "(a) Three arms", "arm i", "reward", xlim=(0.5, 3.6), xticks=[1, 2, 3], ylim=(-0.2, 3.35))
    axes.grid(axis="x", visible=False)
    arms, chosen = np.arange(1, 4), int((mean + width).argmax())
    drawing.interval("a", mean - width, mean + width, arms, "interval μ ± C", upright=True, color=GREY, lw=2)
    drawing.points("a", arms, mean, "mean μ", color=INK, ms=5)
    drawing.points("a", arms, mean + width, "limit Q", color=BLUE, marker="_", ms=16, mew=2.5)
    axes.annotate("chosen", (arms[chosen], (mean + width)[chosen]), (0, 7), textcoords="offset points", ha="center",
                  color=BLUE, fontsize=8.5, fontweight="bold")  # fmt: skip
    axes.annotate("Q₁", (1, (mean + width)[0]), (0, 6), textcoords="offset points", ha="center", color=BLUE)
    axes.annotate("μ₁", (1, mean[0]), (6, 0), textcoords="offset points", va="center")
    axes.annotate("C₁", (1, mean[0] + width[0] / 2), (6, 0), textcoords="offset points", va="center", color=GREY)


def _draw_belief(drawing: Drawing, alpha: float) -> None:
    mu, sd = 1.5, 0.5
    q = mu + sd * float(theory.upper_quantile(alpha))
    x = np.linspace(mu - 3.2 * sd, mu + 3.2 * sd, 200)
    density = drawing.panel("b", "(b) Density", "mean reward x", "f(x)", xlim=(x[0], x[-1]), ylim=(0, 0.98), yticks=[])
    below = x[x <= q]
    drawing.band("b", np.append(below, q), 0, norm.pdf(np.append(below, q), mu, sd), "area 1 − α", color=BLUE)
    drawing.line("b", x, norm.pdf(x, mu, sd), "density f", color=BLUE)
    drawing.line("b", [mu, mu], [0, norm.pdf(mu, mu, sd)], "mean μ", color=INK, lw=1, ls=":")
    drawing.line("b", [q, q], [0, 0.5], "limit Q = μ + C", color=VERMILION)
    density.annotate("", (q, 0.11), (mu, 0.11), arrowprops={"arrowstyle": "<->", "color": INK, "lw": 0.9})
    density.text((mu + q) / 2, 0.135, "C", ha="center")
    density.text(mu - 0.08, 0.12, "1 − α\n= 0.9", ha="right", color=BLUE)
    density.text(q + 0.04, 0.51, "Q = μ + C", color=VERMILION, ha="left", va="bottom", fontsize=8.5)
    cumulative = drawing.panel("c", "(c) Distribution", "mean reward x", "F(x)", xlim=(x[0], x[-1]), ylim=(0, 1.08))
    drawing.line("c", x, norm.cdf(x, mu, sd), "distribution F", color=BLUE)
    drawing.line("c", [x[0], q, q], [1 - alpha, 1 - alpha, 0], "limit Q = F⁻¹(1 − α)", color=VERMILION, ls="--")
    cumulative.set_yticks([0, 0.5, 0.9], ["0", "0.5", "1 − α"])
    cumulative.set_xticks([mu, q], ["μ", "Q"])
    density.set_xticks([mu, q], ["μ", "Q"])
    cumulative.text(x[0] + 0.08, 1 - alpha + 0.02, "Q = F⁻¹(1 − α)", color=VERMILION, fontsize=8.5, va="bottom")
    for axes in (density, cumulative):
        axes.grid(visible=False)


def quantile_bounds(effort: Effort) -> Exhibit:
    """The normal quantile between its two bounds, and how tight they are."""
    top = 1 / np.sqrt(2 * np.pi)
    alpha = np.append(np.geomspace(1e-8, 0.39, 400), top * (1 - np.geomspace(0.02, 1e-4, 40)))
    quantile = theory.upper_quantile(alpha)
    upper, lower = theory.quantile_upper_bound(alpha), theory.quantile_lower_bound(alpha)
    bare = upper / theory.BETA  # β = 1, which `theory` rightly refuses to call a bound
    drawing = Drawing([["a"], ["b"]], width=6.2, height=5.0, height_ratios=[1.25, 1])
    _draw_bounds(drawing, alpha, quantile, upper, lower)
    slack = {
        "β = 1.02": 100 * (upper / quantile - 1),
        "β = 1": 100 * (bare / quantile - 1),
        "lower": 100 * (lower / quantile - 1),
    }
    _draw_slack(drawing, alpha, slack)
    fails = alpha[slack["β = 1"] < 0]
    worst, tightest = int(slack["β = 1"].argmin()), int(slack["β = 1.02"].argmin())
    finding = (
        f"Both bounds hold at all {alpha.size} values of α drawn, from 10⁻⁸ to 1/√(2π). With β = 1.02 the upper bound is at "
        f"least {number(slack['β = 1.02'].min())} % too high (at α = {number(alpha[tightest], 2)}); with β = 1 it "
        f"lies below the quantile at every α up to {number(fails.max(), 2)}, by {number(-slack['β = 1'].min(), 2)} % at "
        f"α = {number(alpha[worst], 2)}, so it is no bound. The smallest β that works is {theory.SMALLEST_BETA:.5f}."
    )
    differs = (
        "The paper shows the two bounds but not the slack. It states β ≥ 1.02 and its proof needs 1.01923; numerically "
        "1.00353 is enough. The α ∈ (0, 1) in the proof is a slip for α ∈ (0, 1/√(2π))."
    )
    return exhibit(drawing, finding, differs, {"Range": "10⁻⁸ ≤ α < 1/√(2π) = 0.3989", "Seed": "none (nothing is random)"})


def _draw_bounds(drawing: Drawing, alpha: np.ndarray, quantile: np.ndarray, upper: np.ndarray, lower: np.ndarray) -> None:
    axes = drawing.panel("a", "(a) Quantile and bounds", "α", "standard deviations", log="x", ylim=(0, 6), xlim=(8e-9, 0.5))
    drawing.line("a", alpha, upper, "upper bound, β = 1.02", color=VERMILION, ls="--", label="upper bound, β = 1.02")
    drawing.line("a", alpha, quantile, "Φ⁻¹(1 − α)", color=INK, lw=2, label="quantile Φ⁻¹(1 − α)")
    drawing.line("a", alpha, lower, "lower bound", color=BLUE, ls="--", label="lower bound")
    axes.legend(loc="lower left")
    axes.set_xlabel("")
    axes.tick_params(labelbottom=False)


def _draw_slack(drawing: Drawing, alpha: np.ndarray, slack: dict[str, np.ndarray]) -> None:
    axes = drawing.panel(
        "b", "(b) How far off: bound / quantile − 1", "α", "slack (%)", log="x", ylim=(-4, 4), xlim=(8e-9, 0.5)
    )
    axes.axhline(0, color=INK, lw=1)
    bare = slack["β = 1"]
    fails = bare < 0
    drawing.band("b", alpha[fails], bare[fails], 0, "where β = 1 fails", color=GREEN, alpha=0.35)
    drawing.line("b", alpha, slack["β = 1.02"], "upper bound, β = 1.02", color=VERMILION, ls="--")
    drawing.line("b", alpha, bare, "upper bound with β = 1", color=GREEN, ls="-.")
    drawing.line("b", alpha, slack["lower"], "lower bound", color=BLUE, ls="--")
    axes.text(3e-8, 2.2, "upper bound, β = 1.02", color=VERMILION, fontsize=8.5)
    axes.text(3e-8, 0.3, "upper bound with β = 1: below the quantile, so false", color=GREEN, fontsize=8.5)
    axes.text(3e-8, -0.9, "lower bound", color=BLUE, fontsize=8.5)
