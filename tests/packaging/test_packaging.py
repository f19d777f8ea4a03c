"""What is built is what works: the wheel made from the source distribution, installed where nothing of the checkout is."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import explorelab
from explorelab._support.extras import EXTRAS
from explorelab.study.server.built_pages import PAGES
from tests.support.study.postgres import free_port

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def run(*command: object, cwd: Path = ROOT, env: dict[str, str] | None = None, timeout: float = 300):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | (env or {})
    words = [str(each) for each in command]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, env=environment, timeout=timeout, check=False)


def checkout(folder: Path, *without: str) -> Path:
    """A copy of what is in the checkout, as `git clone` and `make page` leave it, but for some of it."""
    skipped = shutil.ignore_patterns("node_modules", "__pycache__", "dist", *without)
    for name in ("src", "page", "scripts"):
        shutil.copytree(ROOT / name, folder / name, ignore=skipped)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source distribution and the wheel made from it, by the standard recipe."""
    folder = checkout(tmp_path_factory.mktemp("checkout") / "explorelab")
    (folder / "my-study").mkdir()
    (folder / "my-study" / "study.db").write_text("what people did")
    out = tmp_path_factory.mktemp("dist")
    done = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.tar.gz")), next(out.glob("*.whl"))


def names_in(file: Path) -> list[str]:
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return wheel.namelist()
    with tarfile.open(file) as archive:
        return [member.name.partition("/")[2] for member in archive.getmembers()]


def test_the_wheel_from_the_source_distribution_has_every_page(built: tuple[Path, Path]) -> None:
    for file, folder in zip(built, ("src/explorelab", "explorelab"), strict=True):
        assert [name for name in PAGES if f"{folder}/study/static/{name}" not in names_in(file)] == []


def test_the_wheel_has_the_files_that_the_package_reads(built: tuple[Path, Path]) -> None:
    """Whatever lies in the package besides its source: templates, migrations, pages."""
    package = ROOT / "src" / "explorelab"
    files = [file for file in package.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    needed = {f"explorelab/{file.relative_to(package).as_posix()}" for file in files if not file.name.startswith(".built-")}
    assert needed - set(names_in(built[1])) == set()


def test_the_wheel_has_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    names = names_in(built[1])
    assert {name.split("/")[0] for name in names} == {"explorelab", f"explorelab-{explorelab.__version__}.dist-info"}
    assert [name for name in names if re.search(r"node_modules|(^|/)tests?/|__pycache__|\.built-|\.ts$", name)] == []


def test_the_source_distribution_takes_nothing_along_that_lies_about(built: tuple[Path, Path]) -> None:
    assert [name for name in names_in(built[0]) if "my-study" in name or "node_modules" in name] == []


def test_no_file_names_where_packages_were_fetched_from(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        texts = {each.name: archive.extractfile(each).read() for each in archive.getmembers() if each.isfile()}  # type: ignore[union-attr]
    pattern = re.compile(rb'"resolved": *"http|https?://registry\.|https?://[\w.]+/simple/')
    assert [name for name, content in texts.items() if pattern.search(content) and not name.endswith(".py")] == []


def test_two_builds_are_the_same_to_the_byte(built: tuple[Path, Path], tmp_path: Path) -> None:
    folder = checkout(tmp_path / "elsewhere")
    done = run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path / "dist", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    again = next((tmp_path / "dist").glob("*.whl"))
    assert hashlib.sha256(again.read_bytes()).hexdigest() == hashlib.sha256(built[1].read_bytes()).hexdigest()


@pytest.mark.parametrize("what", ["static", "a changed source"])
def test_without_node_a_build_says_what_is_missing(what: str, tmp_path: Path) -> None:
    folder = checkout(tmp_path / "explorelab", *(["static"] if what == "static" else []))
    if what != "static":
        (folder / "page" / "participant" / "main.ts").write_text("// newer than the built page")
    empty = tmp_path / "bin"
    empty.mkdir()
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path / "dist", folder]
    done = run(*command, env={"PATH": str(empty)})
    assert done.returncode != 0
    assert "npm was not found: install Node 20 or newer, install a wheel" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    done = run(*command, env={"PATH": str(empty), "EXPLORELAB_WITHOUT_PAGE": "1"})
    assert done.returncode == 0, done.stdout + done.stderr


def environment(folder: Path, wheel: Path, without: tuple[str, ...] = ()) -> Path:
    """The Python of a new environment with the wheel installed; its dependencies are lent by the environment of the tests.

    A path in a .pth file does not bring that folder's own .pth files, so that the checkout is not found through it.
    """
    done = run(sys.executable, "-m", "venv", "--without-pip", folder)
    assert done.returncode == 0, done.stderr
    python = folder / "bin" / "python"
    done = run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    assert done.returncode == 0, done.stderr
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip())
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def test_an_installed_wheel_serves_a_study(built: tuple[Path, Path], tmp_path: Path) -> None:
    python = environment(tmp_path / "env", built[1])
    explorelab_command = python.parent / "explorelab"
    where = run(python, "-c", "import explorelab; print(explorelab.__file__)", cwd=tmp_path).stdout
    assert str(tmp_path / "env") in where
    done = run(explorelab_command, "study", "init", "mine", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_serves(explorelab_command, tmp_path)


def assert_serves(command: Path, folder: Path) -> None:
    """The command serves the study `mine`: every page, and the interface behind it."""
    import httpx

    port = free_port()
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    server = subprocess.Popen(
        [str(command), "study", "serve", "mine", "--port", str(port)], cwd=folder, env=env, stdout=subprocess.DEVNULL
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", transport=httpx.HTTPTransport(retries=10)) as client:
            answers = [
                client.get(path).status_code for path in ("/", "/static/study.js", "/static/admin.js", "/admin/login")
            ]
            title = client.get("/api/openapi.json").json()["info"]["title"]
    finally:
        server.terminate()
        server.wait(20)
    assert answers == [200] * 4
    assert title


@pytest.mark.slow
def test_a_clean_environment_with_the_extra_alone_serves_a_study(built: tuple[Path, Path], tmp_path: Path) -> None:
    assert run(sys.executable, "-m", "venv", tmp_path / "env").returncode == 0
    pip = [tmp_path / "env" / "bin" / "python", "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt"]
    done = run(*pip, f"explorelab[study] @ {built[1].as_uri()}", timeout=900)
    assert done.returncode == 0, done.stderr
    command = tmp_path / "env" / "bin" / "explorelab"
    assert run(command, "study", "init", "mine", "--language", "en,de", cwd=tmp_path).returncode == 0
    assert_serves(command, tmp_path)
    assert_plays(command, tmp_path)


def assert_plays(command: Path, folder: Path) -> None:
    """Robots play the study from end to end over HTTP, in both languages, and what they did is exported and fits."""
    toml = folder / "mine" / "study.toml"
    text = toml.read_text()
    for old, new in (("fast = 1500", "fast = 100"), ("slow = 6000", "slow = 120"), ("choices = 90", "choices = 20")):
        assert old in text
        text = text.replace(old, new)
    toml.write_text(text)
    words = (
        ["check"],
        ["pilot", "--people", "4"],
        ["backup", "--keep", "2"],
        ["export", "--pilots", "only", "--out", "data"],
    )
    said = {}
    for name, *more in words:
        done = run(command, "study", name, "mine", *more, cwd=folder)
        assert done.returncode == (1 if name == "check" else 0), (name, done.stderr)
        said[name] = done.stdout
    assert "de/consent.md" in said["check"]
    assert said["pilot"].startswith("4 of 4 robots finished")
    assert "other language" not in said["pilot"]
    done = run(command, "check", folder / "data" / "choices.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "4 participants" in done.stdout


def test_an_installation_without_pages_says_what_a_pip_user_can_do(built: tuple[Path, Path], tmp_path: Path) -> None:
    python = environment(tmp_path / "env", built[1])
    assert run(python.parent / "explorelab", "study", "init", "mine", cwd=tmp_path).returncode == 0
    for folder in (tmp_path / "env").rglob("study/static"):
        shutil.rmtree(folder)
    done = run(python.parent / "explorelab", "study", "serve", "mine", cwd=tmp_path)
    assert done.returncode == 2
    assert "install it again from a wheel" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "make page" not in done.stderr


def test_the_extras_are_those_that_missing_modules_are_looked_up_in() -> None:
    declared = set(PROJECT["optional-dependencies"]) - {"all", "test", "check"}
    assert declared == set(EXTRAS)
    assert PROJECT["optional-dependencies"]["all"] == [f"explorelab[{','.join(sorted(EXTRAS))}]"]
    for extra, modules in EXTRAS.items():
        distributions = (
            " ".join(PROJECT["optional-dependencies"][extra]).replace("-", "_").replace("markdown_it_py", "markdown_it")
        )
        assert [name for name in modules if name not in distributions] == []
