"""Commands that analyse a file of people's choices."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from explorelab._support.name_value import Written
from explorelab._support.written_numbers import DIGITS
from explorelab.cli.options import (
    NAMED,
    AsJson,
    Data,
    Seed,
    Starts,
    Task,
    check_targets,
    long_work,
    one_agent,
    option_groups,
    several_agents,
)
from explorelab.cli.work_flags import WorkFlags, shared_work
from explorelab.errors import InputError

if TYPE_CHECKING:
    from explorelab.fitting.bayes.convergence import ConvergenceError

Fixed = Annotated[
    list[str] | None, typer.Option("--set", "-s", metavar="NAME=VALUE", help="Fix a parameter; may be repeated.")
]
Within = Annotated[
    str | None, typer.Option(help="Column with the condition: cross-validate within each condition separately.")
]


def register(app: typer.Typer) -> None:
    """Add this file's commands to the command line."""
    for command in (check, phenotypes, fit, compare, report, population):
        app.command()(command)


def _list(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _fixed(settings: list[str] | None) -> dict[str, Written | list[Written]]:
    from explorelab._support.name_value import name_and_value

    return dict(name_and_value("--set", text) for text in settings or [])


def check(
    data: Data,
    task: Task = None,
    as_json: AsJson = False,
) -> None:
    """Check a file of people's choices and list every problem by row and column."""
    from explorelab.choices.reading import check_choices
    from explorelab.cli.tables.choices_tables import show_report

    report = check_choices(data, task)
    if as_json:
        print(json.dumps(report.as_json(), allow_nan=False))
    else:
        show_report(report)
    if not report.ok:
        raise typer.Exit(2)


def phenotypes(
    data: Data,
    task: Task = None,
    power: Annotated[str, typer.Option(help="How the power law is fitted: raw or log-log.")] = "raw",
    by: Annotated[str, typer.Option(help="One curve per block or per participant.")] = "block",
    bootstrap: Annotated[
        int, typer.Option(help="Number of resampled curves for the probability of each label; 0 for none.")
    ] = 1000,
    seed: Seed = 0,
    figure: Annotated[Path | None, typer.Option(help="Draw curves, means and shares (.png, .svg or .pdf).")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write each curve's label, its probability and its fits.")] = None,
    as_json: AsJson = False,
) -> None:
    """Label each curve of observed regret as linear, power, log or none, and report how common each label is."""
    from explorelab._support.files import write_whole
    from explorelab.choices.reading import read_choices
    from explorelab.cli.tables import choices_tables
    from explorelab.plots import phenotype_figure
    from explorelab.plots.style import write_figure
    from explorelab.regret import phenotype_summary
    from explorelab.regret.phenotypes import label_phenotypes as label

    check_targets(csv, figure=figure)
    how: dict[str, Any] = {"power": power, "bootstrap": bootstrap, "seed": seed, "by": by}
    with long_work():
        result = label(read_choices(data, task), **how)
    if csv is not None:
        write_whole(csv, lambda path: phenotype_summary.labels_table(result).to_csv(path, index=False, float_format=DIGITS))
    if figure is not None:
        write_figure(lambda: phenotype_figure.draw_phenotypes(result), figure)
    if as_json:
        print(json.dumps(phenotype_summary.summary(result), allow_nan=False))
    else:
        choices_tables.show_phenotypes(result)


@option_groups
def fit(
    data: Data,
    task: Task = None,
    agent: Annotated[str, typer.Option(help=f"Agent: {NAMED}.")] = "stochastic-ucl",
    method: Annotated[
        str,
        typer.Option(
            help="ml, map, em (prior learned from the group), bayes (fully Bayesian) or nuts (the same, slower: a check)."
        ),
    ] = "map",
    parameter: Fixed = None,
    free: Annotated[
        str | None, typer.Option(help="Comma-separated parameters to estimate; default: the agent's own.")
    ] = None,
    effects: Annotated[
        str | None,
        typer.Option(
            help='How parameters depend on conditions, as in "temperature ~ group + age; bonus ~ group" (em, bayes, nuts).'
        ),
    ] = None,
    shared: Annotated[
        str | None, typer.Option(help="Comma-separated parameters that are the same for everyone (em, bayes, nuts).")
    ] = None,
    starts: Starts = 10,
    seed: Seed = 0,
    chains: Annotated[int | None, typer.Option(help="Number of chains (sampled fits only; default 4).")] = None,
    draws: Annotated[int | None, typer.Option(help="Draws per chain (sampled fits only; default 1000).")] = None,
    warmup: Annotated[
        int | None, typer.Option(help="Warm-up draws per chain (sampled fits only; default 500 for bayes, 1000 for nuts).")
    ] = None,
    target_accept: Annotated[
        float | None,
        typer.Option(help="Target acceptance rate; higher is slower but safer (sampled fits only; default 0.9)."),
    ] = None,
    max_tree_depth: Annotated[int | None, typer.Option(help="Maximum tree depth (sampled fits only; default 10).")] = None,
    correlated: Annotated[
        bool | None, typer.Option("--correlated", help="Let parameters correlate across people (sampled fits only).")
    ] = None,
    on_failure: Annotated[
        str | None,
        typer.Option(
            metavar="raise|warn",
            help="Chains that have not converged: raise keeps them beside OUT, warn writes them to OUT, marked as such "
            "(sampled fits only; default raise).",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="File for the fit (netCDF).")] = Path("fit.nc"),
    csv: Annotated[Path | None, typer.Option(help="Also write each person's estimates to this file.")] = None,
    as_json: AsJson = False,
    *,
    work: WorkFlags,
) -> None:
    """Fit an agent to every participant and save the estimates with their uncertainty."""
    from explorelab._support.files import write_whole
    from explorelab.choices.reading import read_choices
    from explorelab.cli.tables import fit_tables
    from explorelab.fitting.bayes.convergence import ConvergenceError
    from explorelab.fitting.fit_people import fit as run
    from explorelab.fitting.fit_people import save_fit
    from explorelab.fitting.fit_summary import estimates_table, fit_summary
    from explorelab.fitting.results import SAMPLED

    check_targets(out, csv)
    sampling: dict[str, object] = {"chains": chains, "draws": draws, "warmup": warmup, "target_accept": target_accept}
    sampling |= {"max_tree_depth": max_tree_depth, "correlated": correlated, "on_failure": on_failure}
    given = {name: value for name, value in sampling.items() if value is not None}
    if given and method not in SAMPLED:
        raise InputError(f"--{next(iter(given)).replace('_', '-')} needs --method bayes or nuts, got --method {method}.")
    if on_failure not in (None, "raise", "warn"):
        raise InputError(f"--on-failure must be raise or warn, got {on_failure}.")
    given.pop("on_failure", None)  # draws that are refused are kept beside the fit's place in any case
    choices = read_choices(data, task)
    settings: dict[str, Any] = {"free": _list(free), "fixed": _fixed(parameter), "n_starts": starts, "seed": seed, **given}
    settings |= {"effects": effects, "shared": _list(shared)}
    with shared_work(work, "fit", out) as how_done:
        try:
            tree = run(choices, one_agent(agent), method, **settings, **how_done)  # type: ignore[arg-type]
        except ConvergenceError as failed:
            if on_failure != "warn":
                _set_aside(failed, out)
            tree = failed.fit
        save_fit(tree, out)
    if csv is not None:
        write_whole(csv, lambda path: estimates_table(tree).to_csv(path, index=False, float_format=DIGITS))
    if as_json:
        print(json.dumps(fit_summary(tree)))
    else:
        fit_tables.show_fit(tree)
        print(f"Wrote {out}")


def _set_aside(failed: ConvergenceError, out: Path) -> NoReturn:
    """Save chains that have not converged next to OUT and raise: hours of sampling are not lost."""
    from explorelab.fitting.fit_people import save_fit

    aside = out.with_name(f"{out.stem}-unconverged{out.suffix}")
    save_fit(failed.fit, aside)
    as_options = re.sub(r"target_accept|max_tree_depth", lambda name: "--" + name[0].replace("_", "-"), failed.what)
    raise InputError(
        f"{as_options}. The draws are in {aside}, marked as unconverged; --on-failure warn writes them as the fit, and "
        "--resume with more --draws adds to them."
    )


@option_groups
def compare(
    data: Data,
    task: Task = None,
    agents: Annotated[
        str, typer.Option(help=f"Comma-separated agents, each {NAMED}.")
    ] = "random-choice,win-stay-lose-shift,kalman-ucb,stochastic-ucl,stochastic-ucl+stay+lapse",
    criterion: Annotated[
        str | None,
        typer.Option(help="cv (left-out blocks), bic or aic; default: cv if people have several blocks, else bic."),
    ] = None,
    method: Annotated[str, typer.Option(help="Fitting method for predicting left-out blocks: ml, map or em.")] = "map",
    within: Within = None,
    starts: Starts = 10,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the full result as netCDF.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write each person's criteria as a table.")] = None,
    as_json: AsJson = False,
    *,
    work: WorkFlags,
) -> None:
    """Compare agents: which describes each person, and the group, best."""
    from explorelab._support.files import write_whole
    from explorelab.choices.reading import read_choices
    from explorelab.cli.tables import fit_tables
    from explorelab.comparison.compare import compare as run
    from explorelab.comparison.compare import comparison_summary
    from explorelab.fitting.fit_people import save_fit

    check_targets(out, csv)
    choices = read_choices(data, task)
    settings: dict[str, Any] = {"criterion": criterion, "method": method, "within": within, "n_starts": starts, "seed": seed}
    with shared_work(work, "compare", out) as how_done:
        tree = run(choices, several_agents(agents), **settings, **how_done)
        if out is not None:
            save_fit(tree, out)
    if csv is not None:
        people = tree["people"].to_dataset()
        write_whole(csv, lambda path: people.to_dataframe().reset_index().to_csv(path, index=False, float_format=DIGITS))
    if as_json:
        print(json.dumps(comparison_summary(tree)))
    else:
        fit_tables.show_comparison(tree)


@option_groups
def report(
    data: Data,
    task: Task = None,
    out: Annotated[Path, typer.Option(help="HTML file to write.")] = Path("report.html"),
    agents: Annotated[
        str | None,
        typer.Option(help=f"Comma-separated agents, each {NAMED}. Default: a standard set."),
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Agent whose parameters are reported; default: the best one.")] = None,
    method: Annotated[str, typer.Option(help="map, or em (prior learned from the group).")] = "map",
    within: Within = None,
    effects: Annotated[
        str | None,
        typer.Option(help='How parameters of the reported agent depend on conditions, as in "temperature ~ group".'),
    ] = None,
    starts: Starts = 10,
    seed: Seed = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Use few starts and simulations: a preview, not a result.")] = False,
    figures: Annotated[
        Path | None, typer.Option(help="Folder for figures and tables; default: OUT's name plus _files.")
    ] = None,
    *,
    work: WorkFlags,
) -> None:
    """Write a one-page report: data, regret, fits, comparison, recovery, predictions, and a methods text to paste."""
    from explorelab.report.make import write_report as make

    compared = None if agents is None else several_agents(agents)
    reported = None if agent is None else one_agent(agent)
    how: dict[str, Any] = {"task": task, "agents": compared, "agent": reported, "method": method, "within": within}
    how |= {"effects": effects, "n_starts": starts, "seed": seed, "quick": quick, "figures": figures}
    with shared_work(work, "report", out) as how_done:
        page = make(data, out, **how, **how_done)
    print(f"Wrote {page}")


def population(
    out: Annotated[Path, typer.Option(help="Folder for choices.csv, choices.toml and true_parameters.csv.")] = Path(
        "people"
    ),
    people: Annotated[int, typer.Option(help="Number of people.")] = 326,
    seed: Seed = 0,
) -> None:
    """Simulate people ranging between the paper's two example agents, as example data for the report."""
    from explorelab.recovery.demo_people import write_population

    with long_work():
        choices = write_population(out, seed, people)
    print(f"Wrote {choices}")
