"""The commands that go from a file of choices to statements about people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from explorelab.errors import InputError, InterruptedByUserError

Data = Annotated[Path, typer.Argument(help="Choices, a row for each trial: a CSV or Parquet file.")]
Task = Annotated[Path | None, typer.Option(help="TOML file about the task; by default the one beside DATA.")]
Fixed = Annotated[
    list[str] | None, typer.Option("--set", "-s", metavar="NAME=VALUE", help="A parameter that is known; repeat.")
]
Starts = Annotated[int, typer.Option(help="From how many starts each person is fitted.")]
Seed = Annotated[int, typer.Option(help="Same seed, same result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON summary and nothing else.")]
Within = Annotated[str | None, typer.Option(help="Leave blocks out among those of the same condition (a column).")]


def register(app: typer.Typer) -> None:
    """Enter the commands of this file into the command line."""
    for command in (fit, compare):
        app.command()(command)


def _list(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _fixed(settings: list[str] | None) -> dict[str, Any]:
    from explorelab.flags import name_and_value

    return dict(name_and_value("--set", text) for text in settings or [])


def interruptible(work: Any) -> Any:
    """What the work comes to; an interrupt leaves nothing behind and says so."""
    try:
        return work()
    except KeyboardInterrupt:
        raise InterruptedByUserError("interrupted; nothing was written.") from None


def fit(
    data: Data,
    task: Task = None,
    agent: Annotated[
        str, typer.Option(help="Name of the agent, with any habits after plus signs: stochastic-ucl+travel+lapse.")
    ] = "stochastic-ucl",
    method: Annotated[str, typer.Option(help="ml, map, em (prior learned from the group) or nuts (all of it).")] = "map",
    parameter: Fixed = None,
    free: Annotated[str | None, typer.Option(help="Parameters to estimate, with commas; default: the agent's.")] = None,
    starts: Starts = 10,
    seed: Seed = 0,
    chains: Annotated[int | None, typer.Option(help="Of nuts: how many chains (4).")] = None,
    draws: Annotated[int | None, typer.Option(help="Of nuts: draws of each chain (1000).")] = None,
    warmup: Annotated[int | None, typer.Option(help="Of nuts: draws to adapt before those (1000).")] = None,
    out: Annotated[Path, typer.Option(help="Where the fit is written, as netCDF.")] = Path("fit.nc"),
    csv: Annotated[Path | None, typer.Option(help="Write every person's estimates as a table.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fit an agent to every participant and save the estimates, with their uncertainty."""
    from explorelab.files import check_writable, write_whole
    from explorelab.fitting import showing
    from explorelab.fitting.api import fit as run
    from explorelab.fitting.api import saved
    from explorelab.people.reading import read_choices

    for target in (out, csv):
        if target is not None:
            check_writable(target)
    sampling = {"chains": chains, "draws": draws, "warmup": warmup}
    given = {name: value for name, value in sampling.items() if value is not None}
    if given and method != "nuts":
        raise InputError(f"--{next(iter(given))} belongs to --method nuts, got --method {method}.")
    choices = read_choices(data, task)
    settings: dict[str, Any] = {"free": _list(free), "fixed": _fixed(parameter), "starts": starts, "seed": seed, **given}
    tree = interruptible(lambda: run(choices, agent, method, **settings))  # type: ignore[arg-type]
    write_whole(out, lambda path: saved(tree, path))
    if csv is not None:
        write_whole(csv, lambda path: showing.table(tree).to_csv(path, index=False))
    if as_json:
        print(json.dumps(showing.summary(tree)))
    else:
        showing.show_fit(tree)
        print(f"Wrote {out}")


def compare(
    data: Data,
    task: Task = None,
    agents: Annotated[
        str, typer.Option(help="Names with commas.")
    ] = "random-choice,win-stay-lose-shift,kalman-ucb,stochastic-ucl,stochastic-ucl+stay+lapse",
    criterion: Annotated[
        str | None, typer.Option(help="cv (left-out blocks), bic or aic; by default cv where people have several blocks.")
    ] = None,
    method: Annotated[str, typer.Option(help="How left-out blocks are predicted: ml, map or em.")] = "map",
    within: Within = None,
    starts: Starts = 10,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write everything as netCDF.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write every person's criteria as a table.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say which agent describes whom best, for each person and for the group."""
    from explorelab.files import check_writable, write_whole
    from explorelab.fitting import showing
    from explorelab.fitting.api import saved
    from explorelab.fitting.comparison import compare as run
    from explorelab.people.reading import read_choices

    for target in (out, csv):
        if target is not None:
            check_writable(target)
    choices = read_choices(data, task)
    settings: dict[str, Any] = {"criterion": criterion, "method": method, "within": within, "starts": starts, "seed": seed}
    tree = interruptible(lambda: run(choices, _list(agents) or [], **settings))
    if out is not None:
        write_whole(out, lambda path: saved(tree, path))
    if csv is not None:
        people = tree["people"].to_dataset()
        write_whole(csv, lambda path: people.to_dataframe().reset_index().to_csv(path, index=False))
    if as_json:
        print(json.dumps(showing.comparison_summary(tree)))
    else:
        showing.show_comparison(tree)
