"""The reproduction: all files there, the page on its own, the data those drawn, the same again, and nothing left behind."""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

import explorelab as xl
from explorelab.paper import EXHIBITS, reproduce
from explorelab.paper.exhibit import Effort, Entry
from explorelab.plots.style import PALETTE, Drawing, names_at_ends, power_of_ten, save, style
from tests.support.quick_programs import compiled_quickly

MODULE = sys.modules[reproduce.__module__]
"""By its name the package gives the function."""
NAMES = [entry.name for entry in EXHIBITS]


@pytest.fixture(scope="module", autouse=True)
def _compiled_quickly():
    with compiled_quickly():
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The page of one quick run, and the exhibits on it."""
    made = []

    def remembering(entry):
        def make(effort):
            made.append(entry.make(effort))
            return made[-1]

        return entry._replace(make=make)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "EXHIBITS", tuple(map(remembering, EXHIBITS)))
        return reproduce(tmp_path_factory.mktemp("reproduced") / "out", seed=3, quick=True, progress=False), made


@pytest.fixture(scope="module")
def page(run):
    return run[0]


# The page and its files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_its_three_files(page, name):
    folder = page.parent / "figures"
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(folder / f"{name}.svg").getroot().tag.endswith("svg")
    assert (folder / f"{name}.csv").stat().st_size > 100


def test_there_is_nothing_but_the_page_and_the_figures(page):
    assert sorted(path.name for path in page.parent.iterdir()) == ["figures", "index.html"]
    assert len(list((page.parent / "figures").iterdir())) == 3 * len(EXHIBITS)


def test_the_page_needs_no_other_file(page):
    text = page.read_text()
    assert not re.search(r"https?://", text)
    assert "<script" not in text
    assert "@import" not in text
    assert "url(" not in text
    sources = re.findall(r'src="([^"]{30})', text)
    assert len(sources) == len(EXHIBITS)
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)


def test_every_link_of_the_page_leads_somewhere(page):
    text = page.read_text()
    for link in re.findall(r'href="([^"]+)"', text):
        assert f'id="{link[1:]}"' in text if link.startswith("#") else (page.parent / link).is_file()


@pytest.mark.parametrize("entry", EXHIBITS, ids=NAMES)
def test_every_figure_has_a_finding_with_numbers_a_difference_and_settings(page, entry):
    section = re.search(rf'<section id="{entry.name}".*?</section>', page.read_text(), re.DOTALL).group()
    finding, differs = (
        re.search(rf'<p class="{kind}">(.*?)</p>', section, re.DOTALL).group(1) for kind in ("finding", "differs")
    )
    assert re.search(r"\d", finding)
    assert "nan" not in finding.lower()
    assert "Where we differ from the paper." in differs
    assert len(differs) > 100
    assert "<dt>Seed</dt>" in section


def test_reconstructed_landscapes_are_called_so_on_the_page_and_on_the_figures(page):
    for name in ("03-landscapes", "04-linear-and-log", "05-block-regret", "06-block-cost", "07-graphical"):
        section = re.search(rf'<section id="{name}".*?</section>', page.read_text(), re.DOTALL).group()
        assert "reconstructed" in section
        assert "reconstructed" in (page.parent / "figures" / f"{name}.svg").read_text()


def test_the_page_of_a_quick_run_says_that_its_numbers_measure_nothing(page):
    assert "Quick run." in page.read_text()


@pytest.mark.parametrize("name", NAMES)
def test_data_are_finite_and_named(page, name):
    data = pd.read_csv(page.parent / "figures" / f"{name}.csv", keep_default_na=False)
    assert list(data.columns) == ["panel", "x_name", "y_name", "curve", "part", "x", "y"]
    assert np.isfinite(data[["x", "y"]].to_numpy(dtype=float)).all()
    assert (data["curve"].str.len() > 0).all()


def test_letters_in_svg_are_letters_and_nothing_tells_the_date(page):
    text = (page.parent / "figures" / "01-quantile-bounds.svg").read_text()
    assert "upper bound, β = 1.02" in text
    assert "dc:date" not in text


def _lines(exhibit):
    """Every line drawn on the figure that holds data, as pairs of arrays."""
    for axes in exhibit.figure.axes:
        for line in axes.get_lines():
            x, y = line.get_data(orig=True)
            if (
                np.size(x) and line.get_transform() == axes.transData
            ):  # neither a legend's sample nor a line across the panel
                yield np.asarray(x, dtype=float), np.asarray(y, dtype=float)


def test_data_are_what_is_drawn(run):
    assert len(run[1]) == len(EXHIBITS)
    for exhibit in run[1]:
        curves = [group[["x", "y"]].to_numpy() for _, group in exhibit.data.groupby(["panel", "curve", "part"], sort=False)]
        for x, y in _lines(exhibit):
            assert any(len(c) == len(x) and (c[:, 0] == x).all() and (c[:, 1] == y).all() for c in curves)


@pytest.mark.parametrize(
    "again", [EXHIBITS[::4], pytest.param(EXHIBITS, marks=pytest.mark.slow)], ids=["every fourth figure", "every figure"]
)
def test_a_second_run_gives_the_same_bytes(page, tmp_path, monkeypatch, again):
    monkeypatch.setattr(MODULE, "EXHIBITS", again)
    figures = reproduce(tmp_path / "deeper" / "again", seed=3, quick=True, progress=False).parent / "figures"
    assert len(list(figures.iterdir())) == 3 * len(again)
    for path in figures.iterdir():
        assert path.read_bytes() == (page.parent / "figures" / path.name).read_bytes(), path.name


# Where it cannot write ------------------------------------------------------------------------------------------------


def _refuse(*args):
    raise AssertionError("nothing should have been computed")


@pytest.fixture
def idle(monkeypatch):
    """Exhibits that fail the test if they are made at all."""
    monkeypatch.setattr(MODULE, "EXHIBITS", tuple(entry._replace(make=_refuse) for entry in EXHIBITS))


@pytest.mark.parametrize("below", ["", "out", "deeper/out"])
def test_a_file_in_the_way_is_told_before_any_work_and_nothing_is_left(tmp_path, idle, below):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(xl.InputError, match=r"expected a folder, but .*taken is a file"):
        reproduce(tmp_path / "taken" / below, quick=True, progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.quick
def test_a_file_called_figures_is_told_before_any_work(tmp_path, idle):
    (tmp_path / "figures").write_text("mine")
    with pytest.raises(xl.InputError, match=r"expected a folder, but .*figures is a file"):
        reproduce(tmp_path, quick=True, progress=False)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which nobody may write")
def test_a_folder_in_which_nobody_may_write_is_told_in_one_sentence(idle):
    with pytest.raises(xl.InputError, match=r"/proc/self/out.*: cannot be written"):
        reproduce("/proc/self/out", quick=True, progress=False)


@pytest.mark.quick
def test_a_run_that_fails_leaves_what_was_there(tmp_path, idle):
    (tmp_path / "index.html").write_text("the last run")
    with pytest.raises(AssertionError, match="computed"):
        reproduce(tmp_path, quick=True, progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_a_new_run_replaces_its_own_files_and_no_others(tmp_path, monkeypatch):
    monkeypatch.setattr(MODULE, "EXHIBITS", EXHIBITS[:2])
    (tmp_path / "figures").mkdir()
    for name in ("notes.txt", "index.html", f"figures/{NAMES[0]}.csv", "figures/mine.csv"):
        (tmp_path / name).write_text("old")
    reproduce(tmp_path, quick=True, progress=False)
    kept = [path.name for path in tmp_path.rglob("*") if path.is_file() and path.read_bytes() == b"old"]
    assert sorted(kept) == ["mine.csv", "notes.txt"]


def test_a_bad_seed_is_refused(tmp_path, idle):
    with pytest.raises(xl.InputError, match="seed must be at least 0"):
        reproduce(tmp_path, seed=-1)


# Figures --------------------------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_a_drawing_records_what_it_draws(tmp_path):
    with style():
        drawing = Drawing([["a"]])
        drawing.panel("a", "title", "x axis", "y axis")
        drawing.line("a", [1, 2, 3], [4, np.nan, 6], "a line")
        drawing.band("a", [1, 2], 0, [1, 2], "a band")
        drawing.interval("a", [0], [1], [5], "a span")
    files = save(drawing.figure, drawing.data, tmp_path / "figure")
    data = pd.read_csv(files.csv)
    assert data.groupby(["curve", "part"], sort=False).size().to_dict() == {
        ("a line", "line"): 2,
        ("a band", "low"): 2,
        ("a band", "high"): 2,
        ("a span", "low"): 1,
        ("a span", "high"): 1,
    }
    assert data.query("curve == 'a span'")[["x", "y"]].values.tolist() == [[0, 5], [1, 5]]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure.csv", "figure.png", "figure.svg"]


def test_the_style_ends_with_its_block():
    import matplotlib as mpl

    before = mpl.rcParams["svg.hashsalt"]
    with style():
        assert mpl.rcParams["svg.fonttype"] == "none"
    assert mpl.rcParams["svg.hashsalt"] == before


@pytest.mark.quick
def test_names_at_ends_keep_their_order_and_distance():
    with style():
        drawing = Drawing([["a"]])
        axes = drawing.panel("a", "", "", "", ylim=(0, 1), xlim=(0, 1))
        names_at_ends(axes, [(1, 0.52, "upper", "black"), (1, 0.5, "lower", "black"), (1, 0.9, "far", "black")], gap=0.1)
    heights = {words.get_text(): words.xy[1] for words in axes.texts}
    assert heights == pytest.approx({"lower": 0.46, "upper": 0.56, "far": 0.9})


@pytest.mark.quick
@pytest.mark.parametrize(
    ("value", "shown"), [(0.001, "10⁻³"), (0.1, "0.1"), (1, "1"), (1000, "1000"), (10_000, "10⁴"), (0, "")]
)
def test_powers_of_ten_are_shown_as_a_reader_likes_them(value, shown):
    assert power_of_ten(value) == shown


def _luminance(colour):
    channels = [int(to_hex(colour)[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", PALETTE)
def test_every_colour_stands_out_from_white(colour):
    assert 1.05 / (_luminance(colour) + 0.05) >= 2.8


def test_the_transition_cost_of_trajectories_is_that_of_the_simulator():
    from explorelab.paper.blocks import _costs_of

    task = xl.tasks.with_costs(xl.tasks.profile("B", 1.0))
    runs = Effort(1).simulate(xl.agents.block_ucl(ties="random"), task, 200, 20, keep="trajectories")
    total, among = _costs_of(runs["choice"].values, task, np.array([50, 200]))
    np.testing.assert_allclose(total, runs["cost"].sel(time=[50, 200]), rtol=1e-6)
    assert (among == 0).all()


@pytest.mark.quick
@pytest.mark.parametrize("entry", EXHIBITS, ids=lambda entry: entry.name)
def test_a_figure_is_found_by_its_names_and_numbers(entry: Entry) -> None:
    for name in (entry.name, entry.short, *map(str, entry.figures), *(f"figure-{number}" for number in entry.figures)):
        assert MODULE.chosen([name]) == (entry,)


def test_one_figure_leaves_a_whole_reproduction_alone(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("whole")
    page = reproduce(tmp_path, only=["10"], given={"horizon": 40, "replicates": 3}, progress=False)
    assert page.name == "block-regret.html"
    assert (tmp_path / "index.html").read_text() == "whole"
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        f"05-block-regret.{kind}" for kind in ("png", "svg", "csv")
    }
    text = page.read_text(encoding="utf-8")
    assert "--only block-regret -s horizon=40 -s replicates=3" in text
    assert "T = 40" in text.replace("\xa0", " ")


@pytest.mark.quick
@pytest.mark.parametrize(
    ("only", "given", "message"),
    [
        (["block-regrets"], {}, "block-regret"),
        ([], {}, "at least one figure"),
        (["landscapes"], {"horizon": 90}, "landscapes simulates nothing, so it has no horizon to change"),
        (["10"], {"horizont": 90}, "did you mean 'horizon'"),
        (["10"], {"horizon": 2}, "horizon must be"),
        (["10"], {"replicates": "many"}, "replicates must be"),
    ],
)
def test_a_figure_that_cannot_be_made_is_refused(
    tmp_path: Path, only: list[str], given: dict[str, object], message: str
) -> None:
    with pytest.raises(xl.InputError, match=message):
        reproduce(tmp_path / "out", only=only, given=given, progress=False)
    assert not (tmp_path / "out").exists()
