"""The table [advice]: what it says, what is wrong in it with file and line, and the study that comes with it."""

from pathlib import Path

import numpy as np
import pytest

import explorelab as xl
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study
from tests.support.study.folder import problems

pytestmark = pytest.mark.quick_programs

ARMS = 'arms = ["none", "impersonal", "personal"]'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    init_study(Path("my-study"), advice=True)
    return Path("my-study")


def change(folder: Path, old: str, new: str) -> int:
    """Replace a text that is there once; its line."""
    file = folder / "study.toml"
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), encoding="utf-8")
    return text.count("\n", 0, text.index(old)) + 1


def test_a_study_with_advice_has_its_arms_among_the_conditions_and_says_so_in_its_consent_text(folder: Path) -> None:
    study = load_study(folder)
    assert study.advice is not None
    assert study.advice.arms == ("none", "impersonal", "personal")
    assert (study.advice.from_choice, study.advice.n_points, study.advice.group) == (1, 64, None)
    assert len(study.cells) == 72
    assert {cell.advice for cell in study.cells} == set(study.advice.arms)
    plan = study.plan(study.cells[2])
    assert [block.advice for block in plan] == ["", "", "", "personal", "personal"]
    consent = " ".join(study.texts.pages["consent"].split())
    assert "a computer suggests a square" in consent
    assert "free to follow a suggestion or to ignore it" in consent
    assert "dashed ring" in study.texts.pages["instructions"]


def test_a_study_without_advice_has_none_of_it(tmp_path: Path) -> None:
    init_study(tmp_path / "plain")
    study = load_study(tmp_path / "plain")
    assert study.advice is None
    assert len(study.cells) == 24
    assert {cell.advice for cell in study.cells} == {""}
    assert {cell.name.count("-") for cell in study.cells} == {3}
    for name in ("study.toml", "consent.md", "instructions.md"):
        assert "suggest" not in (tmp_path / "plain" / name).read_text(encoding="utf-8")


WRONG = {
    "no such kind": ('"impersonal"', '"impresonal"', "arms: unknown kind of advice 'impresonal': did you mean"),
    "twice": ('"impersonal"', '"none"', "arms must list each name once, got 'none' twice."),
    "empty": (ARMS, "arms = []", "arms must have at least one name, got an empty list."),
    "from": ("from_choice = 1 ", "from_choice = 91 ", "from_choice must be 1 to 90, got 91."),
    "points": ("n_points = 64", "n_points = 7", "n_points must be 8 to 4096, got 7."),
    "in time": ("within_ms = 300", 'within_ms = "soon"', "within_ms must be a whole number, got 'soon'."),
    "agent": ('# agent = "situated-ucl"', 'agent = "situated"', "agent must be the name of an agent: unknown"),
    "no likelihood": (
        '# agent = "situated-ucl"',
        'agent = "deterministic-ucl"',
        "agent does not fit the study: deterministic-ucl always chooses the arm that looks best",
    ),
    "no group": ('# group = "fit.nc"', 'group = "fit.nc"', "group must be a file in the study folder"),
    "prior": ("# prior_var = 400.0", "prior_var = 0.0", "prior_var must be 1e-09 to 1000000000000, got 0.0."),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_its_line(folder: Path, wrong: tuple[str, str, str]) -> None:
    old, new, sentence = wrong
    line = change(folder, old, new)
    assert any(said.startswith(f"my-study/study.toml, line {line}: [advice] {sentence}") for said in problems(folder))


def test_half_a_prior_is_none(folder: Path) -> None:
    change(folder, "# prior_mean = 40.0", "prior_mean = 40.0")
    assert problems(folder) == [
        "my-study/study.toml, line 93: [advice] must have both prior_mean and prior_var or neither, got no prior_var."
    ]


def test_names_that_make_a_condition_too_long_are_refused(folder: Path) -> None:
    text = (folder / "study.toml").read_text(encoding="utf-8")
    text = text.replace("landscapes.a]", "landscapes.aaaaaaaaaaaaaaaaaaaa]").replace(
        '["a", "b"]', '["aaaaaaaaaaaaaaaaaaaa", "b"]'
    )
    text = text.replace("fast = 1500", "faaaaaaaaaaaaaaaast = 1500").replace('"fast"', '"faaaaaaaaaaaaaaaast"')
    (folder / "study.toml").write_text(text.replace('"impersonal"', '"impersonal-quiet"'), encoding="utf-8")
    (said,) = problems(folder)
    assert "[advice] arms must leave names of conditions with at most 64 characters" in said


def test_a_group_is_read_checked_and_shared(folder: Path) -> None:
    rng = np.random.default_rng(0)
    means = np.asarray(xl.tasks.landscape("A").means)
    rows = ["participant,block,trial,arm,reward"]
    for person in range(3):
        for trial in range(12):
            arm = int(rng.integers(100))
            rows.append(f"p{person},1,{trial + 1},{arm},{means[arm]:g}")
    Path("choices.csv").write_text("\n".join(rows), encoding="utf-8")
    Path("choices.toml").write_text("[task]\ngrid = [10, 10]\nnoise_var = 10\n", encoding="utf-8")
    fit = xl.fit(xl.read_choices("choices.csv"), "stochastic-ucl", method="em", progress=False)
    xl.save_fit(fit, folder / "fit.nc")
    line = change(folder, '# group = "fit.nc"', 'group = "fit.nc"')
    study = load_study(folder)
    assert study.advice is not None
    assert study.advice.group is not None
    assert study.advice.person is None  # that of the group
    assert "fit.nc" in study.files
    change(folder, '# agent = "situated-ucl"', 'agent = "situated-ucl"')
    (said,) = problems(folder)
    assert said.startswith(f"my-study/study.toml, line {line}: [advice] group does not fit the study:")
