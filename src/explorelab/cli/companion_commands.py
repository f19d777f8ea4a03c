"""Commands that follow people trial by trial: assess them, and forecast their choices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from explorelab._support.written_numbers import DIGITS
from explorelab.cli.options import NAMED, AsJson, Data, Seed, Task, check_targets, long_work, one_agent, option_groups
from explorelab.cli.work_flags import WorkFlags, shared_work

Points = Annotated[int, typer.Option(help="Number of weighted points that represent each person's posterior.")]


def register(app: typer.Typer) -> None:
    """Add this file's commands to the command line."""
    for command in (assess, forecast):
        app.command()(command)


def assess(
    data: Data,
    task: Task = None,
    agent: Annotated[
        str | None, typer.Option(help=f"Agent that models people: {NAMED}; default: the group's, or stochastic-ucl.")
    ] = None,
    group: Annotated[
        Path | None, typer.Option(help="A saved fit of other people by em, bayes or nuts; default: a weak prior.")
    ] = None,
    every: Annotated[int, typer.Option(help="Number of trials between simulations of how the block may continue.")] = 5,
    points: Points = 256,
    futures: Annotated[int, typer.Option(help="Number of simulated continuations each time.")] = 128,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for the page, the figure and the tables.")] = Path("minds"),
    as_json: AsJson = False,
) -> None:
    """Replay everyone trial by trial; write a page and tables of parameters, forms and future of regret, and weaknesses."""
    from explorelab.choices.reading import read_choices
    from explorelab.cli.tables import companion_tables
    from explorelab.companions.assessment.assess import assess as run
    from explorelab.companions.assessment.assess import assessment_summary
    from explorelab.fitting.fit_people import load_fit
    from explorelab.plots.companions.companion_page import check_minds_folder, write_minds

    check_minds_folder(out)
    fit = None if group is None else load_fit(group)
    choices = read_choices(data, task)
    with long_work():
        found = run(
            choices,
            None if agent is None else one_agent(agent),
            fit,
            every=every,
            n_points=points,
            n_futures=futures,
            seed=seed,
        )
    page = write_minds(found, choices, out)
    if as_json:
        print(json.dumps(assessment_summary(found), allow_nan=False))
    else:
        companion_tables.show_assessment(found)
        print(f"Wrote {page}")


@option_groups
def forecast(
    data: Data,
    task: Task = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help=f"Agent that models people: {NAMED}. Default: roving-ucl, or restless-kalman+stay+lapse without places."
        ),
    ] = None,
    folds: Annotated[int, typer.Option(help="Number of folds of people; the group is learned outside each.")] = 10,
    points: Annotated[
        int, typer.Option(help="Number of points drawn from the group, and around each of several posteriors of a person.")
    ] = 256,
    starts: Annotated[int, typer.Option(help="Number of starting points per person in the groups' fits.")] = 2,
    seed: Seed = 0,
    figure: Annotated[
        Path | None, typer.Option(help="Draw nats over time and by person, and calibration (.png, .svg or .pdf).")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write each person's nats and R² as a table.")] = None,
    as_json: AsJson = False,
    *,
    work: WorkFlags,
) -> None:
    """Predict each choice of people not seen before from their own earlier ones, and report how well."""
    from explorelab._support.files import write_whole
    from explorelab.choices.reading import read_choices
    from explorelab.cli.tables import companion_tables
    from explorelab.companions.forecasting.forecast import forecast as run
    from explorelab.plots.companions import companion_figures
    from explorelab.plots.style import write_figure

    check_targets(csv, figure=figure)
    choices = read_choices(data, task)
    how: dict[str, Any] = {"n_folds": folds, "n_points": points, "n_starts": starts, "seed": seed}
    with shared_work(work, "forecast", csv or figure) as how_done:
        found = run(choices, None if agent is None else one_agent(agent), **how, **how_done)
    if csv is not None:
        table = found[[name for name in found.data_vars if found[name].dims == ("participant",)]].to_dataframe()
        write_whole(csv, lambda path: table.reset_index().to_csv(path, index=False, float_format=DIGITS))
    if figure is not None:
        write_figure(lambda: companion_figures.draw_forecast(found), figure)
    if as_json:
        print(json.dumps(companion_tables.forecast_summary(found), allow_nan=False))
    else:
        companion_tables.show_forecast(found)
