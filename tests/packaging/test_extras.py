"""Without the extras everything else works, and what needs one says in a sentence what to install."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from explorelab._support.extras import EXTRAS
from tests.support.choice_files import tidy, written

BLOCKED = textwrap.dedent(
    """
    import contextlib, importlib.metadata, io, json, pkgutil, sys, traceback

    class Missing:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] in MODULES:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    MODULES = set(json.loads(sys.argv[1]))
    sys.meta_path.insert(0, Missing())

    from_name = importlib.metadata.Distribution.from_name

    def distribution(name):
        if name.replace("-", "_") in MODULES:
            raise importlib.metadata.PackageNotFoundError(name)
        return from_name(name)

    importlib.metadata.Distribution.from_name = distribution

    import explorelab
    from explorelab.cli.app import app
    from explorelab.errors import ExplorelabError

    def told(work):
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                work()
        except SystemExit as ended:
            return said.getvalue() if ended.code else "works"
        except ExplorelabError as error:
            return str(error)
        except BaseException:
            return traceback.format_exc()
        return "works"
    """
)


def without(modules: list[str], script: str, cwd: Path) -> dict[str, str]:
    """What a script says, by name, where these modules are not installed."""
    program = BLOCKED + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(modules)],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


EVERY = sorted({module for modules in EXTRAS.values() for module in modules})

COMMANDS = """
import click, typer
tree = typer.main.get_command(app)
said = {}
def below(command, *words):
    for name, each in sorted(getattr(command, "commands", {}).items()):
        yield from below(each, *words, name)
    if not hasattr(command, "commands"):
        yield words, command
for name, command in below(tree.commands["study"]):
    needed = [p for p in command.params if isinstance(p, click.Argument) or p.required]
    fits = {"--use": "results"}
    words = [f"{p.opts[0]}={fits.get(p.opts[0], 'x')}" if p.opts[0].startswith("-") else "x" for p in needed]
    said[" ".join(name)] = told(lambda: app(["study", *name, *words], standalone_mode=False))
print(json.dumps(said))
"""

MODULES = """
said = {}
for module in pkgutil.walk_packages(explorelab.__path__, "explorelab.", onerror=lambda name: None):
    if not module.name.startswith(("explorelab.study", "explorelab.laboratory")):
        said[module.name] = told(lambda: importlib.import_module(module.name))
for name in explorelab.__all__:
    said[name] = told(lambda: getattr(explorelab, name))
print(json.dumps(said))
"""

WORK = """
def command(*words):
    return told(lambda: app([*words], standalone_mode=False))

def loo():
    import xarray
    from explorelab.comparison.psis import loo_by_block
    loo_by_block(xarray.DataTree())

fit = ["fit", "choices.csv", "--starts", "1", "--agent", "win-stay-lose-shift"]
choices = explorelab.read_choices("choices.csv")
said = {
    "agents": command("agents"),
    "simulate": command("simulate", "--means", "0,1", "-T", "5", "-n", "2", "--save", "runs.nc", "--figure", "runs.png"),
    "bounds": command("bounds", "--means", "0,1", "-T", "5"),
    "check": command("check", "choices.csv"),
    "fit": command(*fit, "--method", "ml", "--out", "fit.nc"),
    "compare": command("compare", "choices.csv", "--starts", "1", "--agents", "win-stay-lose-shift,random-choice"),
    "latent": command("latent", "choices.csv", "--fit", "fit.nc", "--out", "latent.csv"),
    "bayes": command(*fit, "--method", "bayes", "--out", "bayes.nc"),
    "nuts": command(*fit, "--method", "nuts", "--out", "nuts.nc"),
    "loo": told(loo),
    "check parquet": command("check", "choices.parquet"),
    "latent parquet": command("latent", "choices.csv", "--fit", "fit.nc", "--out", "latent.parquet"),
    "write parquet": told(lambda: explorelab.write_choices(choices, "again.parquet")),
}
print(json.dumps(said))
"""
NEEDS = {
    "bayes": "bayes",
    "nuts": "bayes",
    "loo": "bayes",
    "check parquet": "parquet",
    "latent parquet": "parquet",
    "write parquet": "parquet",
}


def test_every_command_of_a_study_says_what_to_install(tmp_path: Path) -> None:
    said = without(list(EXTRAS["study"]), COMMANDS, tmp_path)
    assert said
    assert {name: text for name, text in said.items() if "pip install 'explorelab[study]'" not in text} == {}


@pytest.mark.quick
@pytest.mark.parametrize("module", EXTRAS["study"])
def test_one_module_too_few_is_named(module: str, tmp_path: Path) -> None:
    from explorelab._support import extras

    before = extras._is_here
    try:
        extras._is_here = lambda name: name != module and before(name)  # type: ignore[assignment]
        with pytest.raises(
            ImportError, match=rf"needs {module}, which is not installed: pip install 'explorelab\[study\]'\."
        ):
            extras.needs("study", "explorelab study")
    finally:
        extras._is_here = before


def test_without_any_extra_everything_outside_the_study_can_be_imported(tmp_path: Path) -> None:
    said = without(EVERY, MODULES, tmp_path)
    assert {name: text for name, text in said.items() if text != "works"} == {}


def test_without_any_extra_simulations_and_fits_work_and_the_rest_says_what_to_install(tmp_path: Path) -> None:
    written(tmp_path, tidy(), "[task]\narms = 4\n")
    (tmp_path / "choices.parquet").write_bytes(b"PAR1")
    said = without(EVERY, WORK, tmp_path)
    expected = {name: f"pip install 'explorelab[{NEEDS[name]}]'." if name in NEEDS else "works" for name in said}
    assert {name: text for name, text in said.items() if not text.endswith(expected[name])} == {}
