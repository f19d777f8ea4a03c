"""The command line: each command parses, calls one library function, and prints."""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from explorelab import __version__
from explorelab.cli import people_commands, recovery_commands, study_commands
from explorelab.cli.options import AsJson, long_work, whole_summaries
from explorelab.errors import ExplorelabError, InterruptedByUserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import xarray as xr

app = typer.Typer(
    name="explorelab",
    no_args_is_help=True,
    # Rich would take [agent] in a help text for markup and show nothing of it.
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)

Config = Annotated[
    Path | None, typer.Option(help="TOML file with tables [agent], [task], [run], [sweep]; flags win over it.")
]
AgentName = Annotated[str | None, typer.Option("--agent", help="Name of the agent; see `explorelab agents`.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", "-s", metavar="NAME=VALUE", help="A parameter of the agent; repeat.")
]
Landscape = Annotated[str | None, typer.Option(help="The paper's 10 x 10 task: A, B or training (reconstructions).")]
Profile = Annotated[str | None, typer.Option(help="Ten arms on a line: the profile of landscape A or B.")]
Means = Annotated[str | None, typer.Option(help="Mean rewards: numbers with commas, or a file (a table makes a grid).")]
Layout = Annotated[str | None, typer.Option(help="How the means lie: bandit (nowhere), line or grid.")]
NoiseVar = Annotated[float | None, typer.Option(help="Variance of Gaussian reward noise.")]
IntegerNoise = Annotated[int | None, typer.Option(help="Reward noise: a whole number drawn from -N .. N.")]
Graph = Annotated[str | None, typer.Option(help='Allowed moves: "neighbours", or a file of edges (from, to, length).')]
Directed = Annotated[bool | None, typer.Option("--directed/--undirected", help="Whether edges go one way.")]
Start = Annotated[int | None, typer.Option(help="On a graph: the arm where the agent stands at first.")]
Costs = Annotated[str | None, typer.Option(help='Transition costs: "distance", "edges", a number, or a file with a matrix.')]
CostKind = Annotated[str | None, typer.Option(help="fixed, or random with that mean: exponential or uniform.")]
CostScale = Annotated[float | None, typer.Option(help="Factor on the transition costs.")]
Horizon = Annotated[int | None, typer.Option("--horizon", "-T", help="How many choices there are.")]
Times = Annotated[str | None, typer.Option(help="Times to report, with commas: 10,100,1000.")]


class Keep(StrEnum):
    """What a saved data set holds."""

    AUTO = "auto"
    STATISTICS = "statistics"
    REPLICATES = "replicates"
    TRAJECTORIES = "trajectories"


class Precision(StrEnum):
    """Floating-point precision of a simulation."""

    AUTO = "auto"
    SINGLE = "single"
    DOUBLE = "double"


def main() -> None:
    """Run the command line; an error that explorelab raises on purpose is one sentence and exit status 2."""
    _keep_compiled_code()
    try:
        app()
    except InterruptedByUserError as interrupted:
        _fail(str(interrupted), 130)
    except ExplorelabError as error:
        _fail(str(error), 2)


def _keep_compiled_code() -> None:
    """Let JAX keep what it compiles in the user's cache, so that the same fit starts at once the next time."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "explorelab"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")


def _fail(message: str, status: int) -> NoReturn:
    print(f"explorelab: {message}", file=sys.stderr)
    sys.stderr.flush()
    sys.stdout.flush()
    # Workers may be in the middle of a compiled call that cannot be stopped: leave without waiting for them.
    os._exit(status)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"explorelab {__version__}")
        raise typer.Exit


@app.callback()
def explorelab(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A laboratory for explore-exploit tasks: simulate, bound and compare decision rules for Gaussian bandits."""


@app.command()
def agents(
    name: Annotated[str | None, typer.Argument(help="One agent, in detail.")] = None, as_json: AsJson = False
) -> None:
    """List the agents, with their parameters and defaults."""
    from explorelab.cli import catalogue

    entries = catalogue.entries(name)
    if as_json:
        print(json.dumps(entries, indent=2))
    else:
        catalogue.show(entries)


@app.command()
def simulate(
    config: Config = None,
    agent: AgentName = None,
    parameter: Set = None,
    sweep: Annotated[list[str] | None, typer.Option(metavar="NAME=V1,V2,...", help="Try several values; repeat.")] = None,
    landscape: Landscape = None,
    profile: Profile = None,
    means: Means = None,
    layout: Layout = None,
    noise_var: NoiseVar = None,
    integer_noise: IntegerNoise = None,
    graph: Graph = None,
    directed: Directed = None,
    start: Start = None,
    costs: Costs = None,
    cost_kind: CostKind = None,
    cost_scale: CostScale = None,
    horizon: Horizon = None,
    replicates: Annotated[int | None, typer.Option("--replicates", "-n", help="Independent repetitions (1000).")] = None,
    seed: Annotated[int | None, typer.Option(help="Same seed, same result (0).")] = None,
    times: Times = None,
    precision: Annotated[
        Precision | None, typer.Option(help="auto (single where it can hold the numbers), single or double.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu or gpu.")] = None,
    memory: Annotated[str | None, typer.Option(help="Memory to stay within, such as 512MiB (1GiB).")] = None,
    as_json: AsJson = False,
    csv: Annotated[Path | None, typer.Option(help="Write means and standard errors over time.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw regret with its bounds: .png, .svg or .pdf.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the whole data set as netCDF.")] = None,
    keep: Annotated[Keep | None, typer.Option(help="What --save holds; auto keeps replicates if they fit.")] = None,
) -> None:
    """Simulate an agent on a task and report regret, transitions, transition cost and visits."""
    import warnings

    from explorelab._support.files import check_writable, write_whole
    from explorelab._support.name_value import name_and_value
    from explorelab._support.toml_file import told_where
    from explorelab._support.written_numbers import DIGITS
    from explorelab.cli import flags
    from explorelab.errors import PrecisionWarning
    from explorelab.simulation import run_file
    from explorelab.simulation.simulate import simulate as run
    from explorelab.simulation.summary import summary, tidy

    tables = flags.tables_from(config, agent, parameter, flags.task_flags(locals()))
    for name in ("horizon", "replicates", "seed", "precision", "device", "memory", "keep"):
        if locals()[name] is not None:
            tables["run"][name] = str(locals()[name]) if name in ("precision", "keep") else locals()[name]
    if times is not None:
        tables["run"]["times"] = flags.whole_numbers("--times", times)
    for text in sweep or []:
        name, values = name_and_value("--sweep", text)
        tables["sweep"][name] = values if isinstance(values, list) else [values]
    for target in (csv, figure, save):
        if target is not None:
            check_writable(target)
    if figure is not None:
        from explorelab.plots.regret_figure import regret_figure
        from explorelab.plots.style import check_format, write_figure

        check_format(figure)
    who, where, how = (
        run_file.build_agent(tables["agent"]),
        run_file.build_task(tables["task"]),
        run_file.check_run(tables["run"]),
    )
    if as_json:
        how.setdefault("times", flags.few_times(how["horizon"]))
        how.setdefault("visits", "times")
    if save is None:
        how.setdefault("keep", "statistics")
    with long_work(), warnings.catch_warnings(), told_where(*tables.values()):
        # What there is to say of the precision stands in the result, and is printed with it.
        warnings.simplefilter("ignore", PrecisionWarning)
        runs = run(who, where, sweep=dict(tables["sweep"]), **how)
    if save is not None:
        write_whole(save, lambda path: runs.to_netcdf(path, engine="h5netcdf"))
    if csv is not None:
        write_whole(csv, lambda path: tidy(runs).to_csv(path, index=False, float_format=DIGITS))
    if figure is not None:
        promised = _bounds_if_any(who, where, runs, tables["sweep"])
        write_figure(lambda: regret_figure(runs, promised), figure, dpi=150)
    if as_json:
        print(json.dumps(summary(runs), allow_nan=False))
    else:
        _print_table(runs)


@app.command()
def bounds(
    config: Config = None,
    agent: AgentName = None,
    parameter: Set = None,
    landscape: Landscape = None,
    profile: Profile = None,
    means: Means = None,
    layout: Layout = None,
    noise_var: NoiseVar = None,
    integer_noise: IntegerNoise = None,
    graph: Graph = None,
    directed: Directed = None,
    start: Start = None,
    costs: Costs = None,
    cost_kind: CostKind = None,
    cost_scale: CostScale = None,
    horizon: Horizon = None,
    times: Times = None,
    epsilon: Annotated[float | None, typer.Option(help="Of the corrected bounds; the best one by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what theory promises for an agent on a task, and where it promises nothing."""
    from explorelab._support.toml_file import told_where
    from explorelab.cli import catalogue, flags
    from explorelab.simulation import run_file
    from explorelab.theory.agent_bounds import bounds as promised

    tables = flags.tables_from(config, agent, parameter, flags.task_flags(locals()))
    if horizon is not None:
        tables["run"]["horizon"] = horizon
    how = run_file.check_run(tables["run"])
    at = flags.whole_numbers("--times", times) if times is not None else how.get("times") or flags.few_times(how["horizon"])
    who, where = run_file.build_agent(tables["agent"]), run_file.build_task(tables["task"])
    with told_where(*tables.values()):
        table = promised(who, where, how["horizon"], times=at, epsilon=epsilon)
    if as_json:
        print(json.dumps(catalogue.bounds_as_json(table), allow_nan=False))
    else:
        catalogue.show_bounds(table)


@app.command()
def reproduce(
    out: Annotated[Path, typer.Option(help="Folder for the page and its figures.")] = Path("out"),
    seed: Annotated[int, typer.Option(help="Same seed, same figures.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Few replicates: a look, not a result.")] = False,
) -> None:
    """Reproduce the paper's simulations: figures, data and one page, OUT/index.html."""
    from explorelab.paper import reproduce as make

    with long_work():
        page = make(out, seed=seed, quick=quick)
    print(f"Wrote {page}")


people_commands.register(app)
recovery_commands.register(app)
study_commands.register(app)
whole_summaries(app)


def _bounds_if_any(agent: Any, task: Any, runs: xr.Dataset, sweep: Mapping[str, Any]) -> xr.Dataset | None:
    """Bounds for the figure; a sweep has several and shows none."""
    from explorelab.theory.agent_bounds import bounds as promised

    return None if sweep else promised(agent, task, runs.attrs["horizon"], times=runs.time.values.tolist())


def _print_table(runs: xr.Dataset) -> None:
    from explorelab.cli.catalogue import show_runs

    show_runs(runs)
