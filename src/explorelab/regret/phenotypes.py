"""Phenotypes of people: the form of each curve of observed regret, its stability, and how common each form is.

Section V.B of the paper: the three forms of `explorelab.regret.forms` are fitted to every block of a standard bandit task,
and least squared residuals give the label. Of 326 people with one such block each, 59.2 % were linear, 19.3 % power and
21.5 % logarithmic; the mean curve was best fitted by a power law with exponent about 0.9; mean curves by phenotype are
drawn with 95 % confidence bands. The paper does not say how it fitted the power law, nor how sure single labels are.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import xarray as xr

from explorelab._support import checks
from explorelab._support.checks import Floats, Variables
from explorelab._support.door import door
from explorelab._support.progress import Progress
from explorelab._support.rounding import spread
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.regret import paper_people
from explorelab.regret.clusters import clustered_share, mean_band, wilson
from explorelab.regret.forms import FEWEST_TIMES, FORMS, NONE, PowerFit, fit_regret_curves, fitted_regret
from explorelab.regret.label_bootstrap import label_probabilities
from explorelab.regret.observed import observed_regret

FEWEST_TRIALS = FEWEST_TIMES
"""Shorter blocks get no label."""


MOVING = (
    "The means change from trial to trial: regret is against the best arm of each moment, so that it grows steadily even "
    "for the best of trackers, and its form says little."
)


type BestMean = npt.ArrayLike | None
"""The mean reward of the best arm, one number or one for each row; None if the choices know it."""


@door
def label_phenotypes(
    choices: Choices,
    power: PowerFit = "raw",
    bootstrap: int = 1000,
    seed: int = 0,
    by: Literal["block", "participant"] = "block",
    *,
    best_mean: BestMean = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """The form of every curve of observed regret and its probability, mean curves, and the share of each form.

    A row is a block or, with `by="participant"`, a person's mean over blocks for as long as all of them last. Over `row`
    (and `form`, in the order linear, power, log):

    `regret`               row x time, NaN beyond the row's end; `n_trials` of each row
    `a`, `b`, `ssr`        of every form, as from `fit_regret_curves`; `exponent` is b of the power law, NaN without a label
    `label`                the form with the smallest `ssr`; "none" for rows that every form fits: those with under 3 trials,
                           or whose regret never changes, as for someone who loses nothing
    `label_probability`    share of `bootstrap` resampled curves that each form fits best (see `label_bootstrap`): how stable
                           the label is under the randomness of single losses; NaN without a bootstrap or a label

    `mean_regret`, `mean_low`, `mean_high` and `phenotype_mean`, `phenotype_low`, `phenotype_high` (over `form`) are mean
    curves with pointwise 95 % bands (normal theory with Student's t, rows clustered by participant). They run to the most
    common length and include the rows that last as long (`n_in_mean`, `phenotype_n`): a mean over fewer and fewer curves
    would bend where some end. `mean_a`, `mean_b`, `mean_ssr`, `mean_r2` are the fits of the forms to the mean curve, and
    `mean_label` is the best form.

    `share`, `share_low`, `share_high` are the labels' shares of labelled rows (NaN if there are none) with 95 % intervals
    clustered by participant (see `clustered_share`), `n_rows` their numbers; `paper_share`, `paper_low`, `paper_high` are
    the paper's (Wilson, n = 326), NaN for other tasks.

    Parameters
    ----------
    choices
        People's choices, with known mean rewards.
    power
        How the power law is fitted: "raw" or "log-log", as in `fit_regret_curves`.
    bootstrap
        Number of resampled curves per row; 0 for none.
    seed
        Same seed, same result.
    by
        One curve per "block" or per "participant".
    best_mean
        Mean reward of the best arm, where the means are unknown: one number, or one per row.
    progress
        Whether to show a progress bar; by default only on a terminal.
    """
    checks.one_of("setting of by:", by, dict.fromkeys(["block", "participant"]))
    checks.whole("bootstrap", bootstrap, at_least=0, at_most=checks.MANY)
    checks.whole("seed", seed, at_least=0)
    checks.one_of("fit of the power law", power, dict.fromkeys(["raw", "log-log"]))
    regret = observed_regret(choices, best_mean)
    who = choices.participant
    if by == "participant":
        regret, who = _mean_of_participants(regret, who)
    curves = regret.values
    lengths = np.isfinite(curves).sum(1)
    if not (lengths >= FEWEST_TRIALS).any():
        raise InputError(
            f"phenotypes need blocks of at least {FEWEST_TRIALS} trials, but none of {len(lengths)} is that long."
        )
    rows = _label_rows(curves, lengths, power, bootstrap, seed, progress)
    variables = {
        "n_trials": ("row", lengths),
        **rows._asdict(),
        **_means(curves, lengths, rows.label[1], who, power),
        **_shares(rows.label[1], who),
        **_papers(paper_people.is_its_task(choices)),
    }
    note = " ".join(filter(None, (choices.note, MOVING if choices.means_change else "")))
    attrs = {"power": power, "bootstrap": bootstrap, "seed": seed, "by": by, "source": choices.source, "note": note}
    # a condition may have the name of one of our variables
    regret = regret.rename({name: f"{name}_" for name in regret.coords if name in (*variables, "regret")})
    return xr.Dataset({"regret": regret, **variables}, {"form": list(FORMS)}, attrs)


class _Rows(NamedTuple):
    """What is found for every row, as variables of a data set."""

    a: tuple[tuple[str, str], Floats]
    b: tuple[tuple[str, str], Floats]
    ssr: tuple[tuple[str, str], Floats]
    exponent: tuple[str, Floats]
    label: tuple[str, np.ndarray]
    label_probability: tuple[tuple[str, str], Floats]


def _label_rows(
    curves: Floats, lengths: np.ndarray, power: PowerFit, bootstrap: int, seed: int, progress: bool | None
) -> _Rows:
    """Fits, labels and their probabilities, length by length."""
    n_rows = len(curves)
    a, b, ssr, probability = (np.full((n_rows, len(FORMS)), np.nan) for _ in range(4))
    label = np.full(n_rows, NONE, dtype=np.asarray(FORMS).dtype)
    with Progress("Bootstrap of labels", n_rows, progress if bootstrap else False) as bar:
        for length in np.unique(lengths[lengths >= FEWEST_TRIALS]):
            at = np.flatnonzero(lengths == length)
            cut = curves[at, :length]
            fits = _fit(cut, power)
            a[at], b[at], ssr[at], label[at] = (fits[name].values for name in ("a", "b", "ssr", "label"))
            if bootstrap:
                share = label_probabilities(cut, _own_form(fits, length), power, bootstrap, seed, bar.advance)
                probability[at] = np.where((label[at] != NONE)[:, None], share, np.nan)
    both = ("row", "form")
    exponent = np.where(label != NONE, b[:, FORMS.index("power")], np.nan)
    return _Rows((both, a), (both, b), (both, ssr), ("row", exponent), ("row", label), (both, probability))


def _fit(curves: Floats, power: PowerFit) -> xr.Dataset:
    with np.errstate(over="ignore"):  # a log-log law through few early times may overflow; its ssr is then infinite
        return fit_regret_curves(curves, power=power)


def _own_form(fits: xr.Dataset, length: int) -> Floats:
    """The fitted curve of each row's label."""
    with np.errstate(over="ignore", invalid="ignore"):  # such a law is never a row's own
        every = fitted_regret(fits, np.arange(1, length + 1)).transpose("form", "curve", "time").values
    own = np.argmax(fits["label"].values[:, None] == np.asarray(FORMS), axis=1)
    return every[own, np.arange(own.size)]


def _mean_of_participants(regret: xr.DataArray, who: np.ndarray) -> tuple[xr.DataArray, np.ndarray]:
    """Each participant's mean curve (NaN once one of their curves ends), with the conditions that all of them share."""
    people, first, back, counts = np.unique(who, return_index=True, return_inverse=True, return_counts=True)
    total = np.zeros((people.size, regret.sizes["time"]))
    np.add.at(total, back, regret.values)
    coords: Variables = {"time": regret["time"].values}
    for name, values in regret.coords.items():
        same = values.dims == ("row",) and bool((values.values == values.values[first][back]).all())
        if same or name == "participant":
            coords[str(name)] = ("row", values.values[first])
    return xr.DataArray(total / counts[:, None], coords, ("row", "time"), regret.name), people


def _means(curves: Floats, lengths: np.ndarray, label: np.ndarray, who: np.ndarray, power: PowerFit) -> Variables:
    """The mean curve, its fits, and the mean curves by phenotype."""
    seen, counts = np.unique(lengths[lengths >= FEWEST_TRIALS], return_counts=True)
    length = int(seen[counts == counts.max()].max())
    in_mean = lengths >= length
    whole = np.where(np.arange(curves.shape[1]) < length, curves, np.nan)
    bands = [mean_band(whole[keep], who[keep]) for keep in (in_mean, *(in_mean & (label == form) for form in FORMS))]
    fits = _fit(bands[0].mean[:length], power)
    squares = length * spread(bands[0].mean[:length]) ** 2
    r2 = 1 - fits["ssr"].values / squares if squares > 0 else np.full(len(FORMS), np.nan)
    variables: Variables = {
        f"mean_{part}": ("time", getattr(bands[0], name))
        for part, name in (("regret", "mean"), ("low", "low"), ("high", "high"))
    }
    variables |= {f"mean_{name}": ("form", fits[name].values) for name in ("a", "b", "ssr")}
    variables |= {"mean_r2": ("form", r2), "mean_label": ((), fits["label"].item()), "n_in_mean": ((), int(in_mean.sum()))}
    variables["phenotype_n"] = ("form", [int((in_mean & (label == form)).sum()) for form in FORMS])
    for part in ("mean", "low", "high"):
        variables[f"phenotype_{part}"] = (("form", "time"), np.stack([getattr(band, part) for band in bands[1:]]))
    return variables


def _shares(label: np.ndarray, who: np.ndarray) -> Variables:
    """Shares with intervals."""
    labelled = label != NONE
    is_form = label[labelled, None] == np.asarray(FORMS)
    nothing = (np.nan, np.nan)
    ours = [clustered_share(is_form[:, k], who[labelled]) if labelled.any() else nothing for k in range(len(FORMS))]
    return {
        "n_rows": ("form", is_form.sum(0)),
        "share": ("form", is_form.mean(0) if labelled.any() else np.full(len(FORMS), np.nan)),
        "share_low": ("form", [low for low, _ in ours]),
        "share_high": ("form", [high for _, high in ours]),
    }


def _papers(comparable: bool) -> Variables:
    """The paper's shares with intervals; NaN for other tasks."""
    ends = [wilson(share, paper_people.PEOPLE) for share in paper_people.SHARES.values()]
    parts = {"paper_share": list(paper_people.SHARES.values()), "paper_low": [low for low, _ in ends]}
    parts["paper_high"] = [high for _, high in ends]
    return {name: ("form", values if comparable else np.full(len(FORMS), np.nan)) for name, values in parts.items()}
