"""The report: one file that needs no other, whose sentences hold the numbers; and the population it is shown on."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import explorelab as xl
from explorelab._support.counted import plural
from explorelab.agents.agent_names import parsed
from explorelab.choices.reading import read_choices
from explorelab.choices.table import Choices
from explorelab.choices.writing import write_choices
from explorelab.cli.app import app
from explorelab.comparison.compare import compare
from explorelab.errors import InputError, InterruptedByUserError
from explorelab.recovery.demo_people import demo_population
from explorelab.recovery.designs import blank_choices
from explorelab.recovery.simulated_choices import simulate_choices
from explorelab.regret.paper_people import on_the_line
from explorelab.regret.phenotypes import label_phenotypes
from explorelab.report import analysis
from explorelab.report.make import write_report
from explorelab.report.report_agents import models_of
from explorelab.report.report_settings import noise_of, settings_for

pytestmark = pytest.mark.quick_programs

GRID = xl.tasks.grid([[1.0, 3.0, 8.0], [2.0, 5.0, 9.0], [0.0, 4.0, 6.0]], noise_var=4.0)
AGENTS = ("random-choice", "delta-rule:learning_rate=0.5")
KEYS = ("data", "regret", "fits", "comparison", "recovery", "prediction", "methods", "references", "repeat")
FIGURES = ("data", "phenotypes", "estimates", "diagnostics", "comparison", "recovery", "model_recovery", "prediction")
HOW = {"agents": AGENTS, "quick": True, "progress": False}


def people(n: int = 12, blocks: int = 1) -> Choices:
    agent = xl.agents.stochastic_ucl(prior_mean=6, prior_var=9, temperature=1.5)
    return simulate_choices(blank_choices(GRID, n, blocks, 16), agent, seed=3, progress=False)


class Page(HTMLParser):
    """The tags, links and text of a page, and whether every tag is closed in its turn."""

    VOID = frozenset({"meta", "img", "br", "link", "input", "hr"})

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open and "script" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        """What a reader reads, with every space the same."""
        return re.sub(r"[\s\u00a0\u202f]+", " ", "".join(self.words))

    def all(self, tag: str, attribute: str) -> list[str]:
        return [value for name, attrs in self.tags if name == tag and (value := attrs.get(attribute))]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on a file of 12 people and one more who made a single choice."""
    folder = tmp_path_factory.mktemp("report")
    path = write_choices(people(), folder / "choices.csv")
    rows = pd.read_csv(path, dtype={"participant": str})
    lone = rows.iloc[[0]].assign(participant="lone")
    pd.concat([rows, lone]).to_csv(path, index=False)
    return write_report(path, folder / "report.html", **HOW)


@pytest.fixture(scope="module")
def page(made: Path) -> Page:
    return Page(made)


def test_the_page_needs_no_other_file_and_is_sound(page: Page) -> None:
    assert not page.open
    names = {tag for tag, _ in page.tags}
    assert "link" not in names
    assert not page.all("script", "src")
    assert all(source.startswith("data:image/") for source in page.all("img", "src"))
    assert not re.search(r"(src|href)=.https?:|@import|url\(", page.source)
    assert page.all("html", "lang") == ["en"]


def test_every_section_is_there_and_every_picture_says_what_it_shows(page: Page) -> None:
    ids = page.all("section", "id")
    assert ids == list(KEYS)
    assert [link for link in page.all("a", "href") if link.startswith("#") and link[1:] not in ids] == []
    assert len(page.all("img", "src")) == len(FIGURES)
    assert all(re.search(r"\d", alt) for alt in page.all("img", "alt"))
    assert len(page.all("img", "alt")) == len(FIGURES)
    assert "Wilson and Collins (2019)" in page.text


def test_every_figure_is_also_svg_and_csv_and_every_link_leads_somewhere(made: Path, page: Page) -> None:
    folder = made.with_name("report_files")
    for name in FIGURES:
        for ending in ("svg", "png", "csv"):
            assert (folder / f"{name}.{ending}").stat().st_size > 0
        assert set(pd.read_csv(folder / f"{name}.csv").columns) == {"panel", "x_name", "y_name", "curve", "part", "x", "y"}
    for link in page.all("a", "href"):
        assert link.startswith("#") or (made.parent / unquote(link)).is_file(), link


def test_sentences_hold_numbers_that_were_computed_elsewhere(made: Path, page: Page) -> None:
    choices = read_choices(made.with_name("choices.csv"))
    played = "12 simulated people played 12 blocks, one each, of 16 trials and chose among 9 arms on a grid of 3 × 3."
    assert played in page.text
    assert f"That makes {12 * 16} choices" in page.text
    lost = (9.0 * 16 - choices.reward.sum(1)).mean()
    assert f"After 16 choices the mean observed regret was {lost:.1f}" in page.text
    labels = label_phenotypes(choices, bootstrap=0)["label"].values
    for form, words in (("linear", "linear"), ("log", "logarithmic")):
        n = int((labels == form).sum())
        assert re.search(rf"\b{n} \({100 * n / 12:.1f} %, 95 % interval [^)]*\) {plural(n, 'is', 'are')} {words}", page.text)


def test_the_comparison_is_that_of_compare(made: Path, page: Page) -> None:
    choices = read_choices(made.with_name("choices.csv"))
    tree = compare(choices, models_of(choices, AGENTS), criterion="bic", n_starts=2, progress=False)
    models = tree["models"].to_dataset()
    for name in AGENTS:
        n = int(models["n_best"].sel(model=name))
        assert f"{n} ({100 * n / 12:.0f} %)" in page.text
        assert f"{float(models['total_bic'].sel(model=name)):.0f}" in page.text.replace(" ", "")
    assert "judged by BIC" in page.text


def test_the_lone_choice_is_excluded_and_said_to_be(made: Path, page: Page) -> None:
    assert "1 participant of 13 in the file was excluded, with 1 trial (a single trial: nothing to fit)" in page.text
    rows = pd.read_csv(made.with_name("report_files") / "table_exclusions.csv")
    assert rows["participant"].tolist() == ["lone"]


def test_it_says_how_to_repeat_it(made: Path, page: Page) -> None:
    import hashlib

    assert hashlib.sha256(made.with_name("choices.csv").read_bytes()).hexdigest() in page.text
    assert "explorelab report choices.csv --out report.html --agents random-choice,delta-rule:learning_rate=0.5" in page.text
    assert f"explorelab {xl.__version__}" in page.text
    assert str(made.parent) not in page.source
    assert "Quick run." in page.text


def test_methods_cite_what_was_used_and_nothing_else(page: Page) -> None:
    assert "Schwarz, G. (1978)" in page.text
    assert "Huys" not in page.text
    cited = {int(n) for group in re.findall(r"\[([\d, ]+)\]", page.text) for n in group.split(",")}
    listed = page.source.split('id="references-list"')[1].split("</ol>")[0].count("<li>")
    assert cited == set(range(1, listed + 1))


def test_without_means_it_says_what_to_add(tmp_path: Path) -> None:
    path = write_choices(replace(people(n=10), means=None), tmp_path / "choices.csv")
    text = Page(write_report(path, tmp_path / "report.html", **HOW)).text
    assert text.count("to the table [task] of the task file") == 3
    assert "Left out: regret needs the true mean rewards" in text
    assert not (tmp_path / "report_files" / "phenotypes.svg").exists()
    assert (tmp_path / "report_files" / "estimates.svg").exists()


@pytest.mark.slow
def test_several_blocks_are_compared_by_leaving_one_out_and_em_is_cited(tmp_path: Path) -> None:
    choices = people(n=4, blocks=2)
    out = write_report(choices, tmp_path / "some name.html", method="em", figures=tmp_path / "figures", **HOW)
    page = Page(out)
    assert "how well it predicts every block from the same person's other blocks" in page.text
    assert "Huys" in page.text
    assert "mean R², left out" in page.text
    assert "The choices did not come from a file" in page.text
    assert (tmp_path / "figures" / "recovery.csv").is_file()


def test_one_person_gets_a_report_that_claims_nothing_of_a_group(tmp_path: Path) -> None:
    text = Page(write_report(people(n=1), tmp_path / "report.html", **HOW)).text
    assert "1 simulated person played 1 block of 16 trials" in text
    assert "one person says nothing about a group" in text
    assert "with parameters drawn from the prior" in text


def test_an_interrupt_leaves_at_most_what_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_choices(people(n=3), tmp_path / "choices.csv")
    before = sorted(tmp_path.iterdir())

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(analysis, "_compared", stopped)
    result = CliRunner().invoke(app, ["report", str(path), "--out", str(tmp_path / "report.html"), "--quick"])
    assert isinstance(result.exception, InterruptedByUserError)
    monkeypatch.setattr("explorelab.report.make.analysed", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_report(path, tmp_path / "report.html", **HOW)
    assert {path.name for path in tmp_path.iterdir() if path not in before} <= {"report.html.parts"}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"out": "report.pdf"}, "ending in .html"),
        ({"agents": ["stochastic-ucl"]}, "at least 2 different agents"),
        ({"agents": ["stochastic-ucl", "nobody"]}, "unknown agent 'nobody'"),
        ({"agents": ["random-choice", "stochastic-ucl:temperature"]}, "NAME=VALUE"),
        ({"agent": "random-choice"}, "no free parameter"),
        ({"agent": "kalman-ucb"}, "agent must be one of those compared"),
        ({"method": "nuts"}, "unknown method of a report"),
        ({"within": "mood"}, "within must be a condition"),
        ({"n_starts": 0}, "n_starts must be at least 1"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, how: dict[str, object], words: str) -> None:
    settings: dict[str, object] = {"agents": list(AGENTS), "out": "report.html", **how}
    with pytest.raises(InputError, match=re.escape(words)) as error:
        write_report(people(n=3), tmp_path / str(settings.pop("out")), **settings)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.quick
def test_a_name_may_fix_parameters() -> None:
    assert parsed("stochastic-ucl:length_scale=0:temperature=2").fixed == {"length_scale": 0, "temperature": 2}
    choices = people(n=2)
    agent = models_of(choices, ["random-choice", "stochastic-ucl:temperature=2"])["stochastic-ucl:temperature=2"]
    assert agent.free == ("prior_mean", "prior_var", "length_scale")
    assert agent.params["temperature"] == 2


def test_whole_number_noise_is_noticed() -> None:
    population = demo_population(seed=2, n=4, horizon=5).choices
    assert noise_of(population) == "integer-uniform"
    assert noise_of(people(n=2)) == "gaussian"
    assert settings_for(population, None, None, "map", None, 4, 0, False).criterion == "bic"


def test_the_population_is_made_as_it_says() -> None:
    one, again = (demo_population(seed=1, n=326, horizon=4) for _ in range(2))
    assert np.array_equal(one.choices.arm, again.choices.arm)
    made = one.truth["made_as"]
    assert made.value_counts().to_dict() == {"linear": 193, "log": 70, "between": 63}
    assert (one.choices.conditions["made_as"] == made.to_numpy()).all()
    assert (one.truth["place"][made == "log"] == 1).all()
    assert (one.truth["length_scale"][made == "linear"] == 0).all()
    ratio = np.log(one.truth["temperature"] / on_the_line("temperature", one.truth["place"].to_numpy()))
    assert abs(ratio.std() - 0.2) < 0.03
    assert abs(ratio.mean()) < 4 * 0.2 / np.sqrt(326)
    assert on_the_line("prior_var", np.array([0.0, 0.5, 1.0])) == pytest.approx([1000, 100, 10])


def test_the_population_is_written_and_checked(tmp_path: Path) -> None:
    run = CliRunner()
    result = run.invoke(app, ["population", "--out", str(tmp_path / "people"), "--people", "5"])
    assert result.exit_code == 0, result.output
    assert run.invoke(app, ["check", str(tmp_path / "people" / "choices.csv")]).exit_code == 0
    choices = read_choices(tmp_path / "people" / "choices.csv")
    assert choices.n_participants == 5
    assert "Simulated people, not real ones" in choices.note
