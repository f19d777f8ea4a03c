"""Studies from their folders: the paper's design as it comes, and one sentence with file and line for what is wrong."""

import re
from pathlib import Path

import numpy as np
import pytest

from explorelab.study.config.addresses import DATABASE
from explorelab.study.config.design import Cell
from explorelab.study.config.markdown import to_html
from explorelab.study.config.start_study import FILES
from explorelab.study.config.study_folder import load_study
from explorelab.study.config.texts import PAGES, PLACEHOLDERS, template_labels
from tests.support.study.folder import change, new_study, problems
from tests.support.study.wrong_values import WRONG


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return new_study(tmp_path, monkeypatch)


# The design as it comes -----------------------------------------------------------------------------------------------


def test_a_new_study_is_the_papers_design(folder):
    study = load_study(folder)
    assert (study.width, study.height, study.n_arms) == (10, 10, 100)
    assert len(study.cells) == 24
    assert len({cell[:3] for cell in study.cells}) == 12
    assert (study.n_task_blocks, study.n_trials) == (2, 90)
    assert study.timings == {"fast": 1500, "slow": 6000}
    assert [(block.kind, block.dynamic, block.n_trials, block.landscape) for block in study.training] == [
        ("training", dynamic, 10, "training") for dynamic in ("standard", "neighbour", "travel")
    ]
    assert {block.deadline_ms * block.n_trials for block in study.training} == {15_000}  # "15 seconds" in the paper
    assert study.database == "sqlite:///study.db"


def test_the_second_block_has_the_other_timing_and_landscape_and_a_remaining_dynamic(folder):
    study = load_study(folder)
    plan = study.plan(Cell("fast", "standard", "a", "travel"))
    assert [block.kind for block in plan] == ["training"] * 3 + ["task"] * 2
    assert plan[3][1:6] == ("standard", "fast", 1500, "a", 90)
    assert plan[4][1:6] == ("travel", "slow", 6000, "b", 90)
    for cell in study.cells:
        first, second = study.plan(cell)[3:]
        assert first.timing != second.timing
        assert first.landscape != second.landscape
        assert first.dynamic != second.dynamic


def test_landscapes_are_those_of_the_library(folder):
    study = load_study(folder)
    assert study.landscapes["a"].means[5 * 10] == 60
    assert study.landscapes["b"].means.reshape(10, 10)[9].tolist() == [60] * 10
    assert study.landscapes["training"].means.max() == 100
    assert all(task.noise.var == 10 for task in study.landscapes.values())
    assert "econstruct" in study.landscapes["a"].note


def test_the_template_says_what_is_reconstructed_and_what_is_ours(folder):
    comments = (folder / "study.toml").read_text(encoding="utf-8")
    assert "reconstructed" in comments
    assert "neighbour and travel are ours" in comments
    for name in PLACEHOLDERS:
        assert f"{{{name}}}" in comments


def test_pages_are_filled_from_the_study(folder):
    pages = load_study(folder).texts.pages
    assert set(pages) == set(PAGES)
    assert "10 by 10 squares" in pages["instructions"]
    assert "90 choices" in pages["instructions"]
    assert "between 1.5 and 6 seconds" in pages["instructions"]
    assert "0.0005 USD" in pages["instructions"]
    assert "up to 12 minutes" in pages["consent"]  # 45 + 135 + 540 seconds
    assert "10.00 USD" in " ".join(pages["consent"].split())
    for text in pages.values():
        assert not re.search(r"[{}]", text)
        assert to_html(text).startswith("<h1>")


@pytest.mark.parametrize(
    ("language", "price", "seconds"),
    [
        ("de", "0,0005 USD", "1,5"),
        ("pt-BR", "0,0005 USD", "1,5"),
        ("de-x-simple", "0,0005 USD", "1,5"),
        ("qqq", "0.0005", "1.5"),
    ],
)
def test_numbers_in_pages_are_written_as_the_language_writes_them(folder, language, price, seconds):
    file = folder / "texts.toml"
    file.write_text(
        file.read_text(encoding="utf-8").replace('language = "en"', f'language = "{language}"'), encoding="utf-8"
    )
    pages = load_study(folder).texts.pages
    assert price in pages["instructions"]
    assert f"between {seconds} and 6 seconds" in pages["instructions"]


def test_files_can_be_given_away_without_the_database(folder, tmp_path, monkeypatch):
    (folder / "values").mkdir()
    np.save(folder / "values" / "a.npy", np.arange(100.0).reshape(10, 10))
    file = folder / "study.toml"
    change(file, 'landscape = "A"', 'means = "values/a.npy"\ninteger_noise = 5')
    secret = "postgresql://lab:s3cret@db.example.org/study"
    text = file.read_text(encoding="utf-8").replace("sqlite:///study.db", secret)
    file.write_text(f"# was: {secret}\n{text}", encoding="utf-8")
    monkeypatch.setenv(DATABASE, "sqlite:///study.db")
    study = load_study(folder)
    assert set(study.files) == {*FILES, "values/a.npy"}
    assert not [name for name, data in study.files.items() if b"s3cret" in data or b"lab:" in data]
    assert b"# was: postgresql://db.example.org/study" in study.files["study.toml"]  # comments stay, logins go
    (tmp_path / "copy" / "values").mkdir(parents=True)
    for name, data in study.files.items():
        (tmp_path / "copy" / name).write_bytes(data)
    again = load_study(tmp_path / "copy")
    assert again.texts == study.texts
    assert again.cells == study.cells
    assert np.array_equal(again.landscapes["a"].means, study.landscapes["a"].means)


@pytest.mark.parametrize("where", ["absolute", "../outside.csv"])
def test_files_elsewhere_are_not_given_away(folder, where):
    outside = folder.resolve().parent / "outside.csv"
    outside.write_text("\n".join(["1,2,3,4,5,6,7,8,9,10"] * 10), encoding="utf-8")
    named = outside if where == "absolute" else where
    change(folder / "study.toml", 'landscape = "A"', f'means = "{named}"\ninteger_noise = 5')
    assert set(load_study(folder).files) == set(FILES)


def test_braces_twice_are_braces(folder):
    (folder / "declined.md").write_text("A set {{1, 2}} of {width}.", encoding="utf-8")
    assert load_study(folder).texts.pages["declined"] == "A set {1, 2} of 10."


def test_texts_are_read_with_and_without_a_byte_order_mark(folder):
    plain = load_study(folder)
    for name in FILES:
        file = folder / name
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    marked = load_study(folder)
    assert marked.texts == plain.texts
    assert marked.timings == plain.timings


# Other designs --------------------------------------------------------------------------------------------------------


def small(folder: Path, landscape: str) -> None:
    """A study on 2 x 3 squares with this landscape alone."""
    text = (folder / "study.toml").read_text(encoding="utf-8")
    text = text.replace("width = 10 ", "width = 2 ").replace("height = 10 ", "height = 3 ")
    text = re.sub(r"\[landscapes\.a\].*?(?=# How long)", f"[landscapes.mine]\n{landscape}\n\n", text, flags=re.DOTALL)
    text = text.replace('landscapes = ["a", "b"]', 'landscapes = ["mine"]').replace(
        'landscape = "training"', 'landscape = "mine"'
    )
    (folder / "study.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "landscape",
    [
        "means = [[1, 2, 3], [4, 5, 6.5]]\ninteger_noise = 2",
        "means = [1, 2, 3, 4, 5, 6.5]\ninteger_noise = 2",
        'means = "means.csv"\nlayout = "grid"\ninteger_noise = 2',
    ],
)
def test_landscapes_of_ones_own(folder, landscape):
    (folder / "means.csv").write_text("1,2,3\n4,5,6.5\n", encoding="utf-8")
    small(folder, landscape)
    study = load_study(folder)
    task = study.landscapes["mine"]
    assert task.means.tolist() == [1, 2, 3, 4, 5, 6.5]
    assert task.noise.var == 2
    assert np.array_equal(task.places, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]])
    first, second = study.plan(study.cells[0])[-2:]
    assert first.landscape == second.landscape == "mine"  # of a single one the second block has the same again


def test_gaussian_noise_and_a_line(folder):
    change(folder / "study.toml", "height = 10 ", "height = 1 ")
    text = (folder / "study.toml").read_text(encoding="utf-8")
    text = re.sub(r'^landscape = "(A|B|training)"  .*$', 'profile = "B"\nnoise_var = 4', text, flags=re.MULTILINE)
    (folder / "study.toml").write_text(text, encoding="utf-8")
    study = load_study(folder)
    assert study.landscapes["a"].noise.kind == "gaussian"
    assert study.landscapes["a"].noise.var == 4
    assert study.landscapes["a"].means.tolist() == [35, 27, 20, 15, 13, 17, 25, 38, 50, 60]


def test_one_block_and_no_training(folder):
    change(folder / "study.toml", "blocks = 2 ", "blocks = 1 ")
    change(
        folder / "study.toml", 'dynamics = ["standard", "neighbour", "travel"]\nchoices = 10', "dynamics = []\nchoices = 10"
    )
    change(folder / "study.toml", 'timing = "fast"', 'timing = "none"')
    study = load_study(folder)
    assert study.training == ()
    assert len(study.cells) == 12
    assert len(study.plan(study.cells[0])) == 1


def test_what_may_be_left_out(folder):
    text = (folder / "study.toml").read_text(encoding="utf-8")
    (folder / "study.toml").write_text(text[: text.index("# What people are given at the end")], encoding="utf-8")
    study = load_study(folder)
    assert (study.completion.code, study.completion.redirect) == ("", "")
    assert study.server.return_within_minutes == 120
    assert study.database == "sqlite:///study.db"


def test_dotted_keys_and_inline_tables_are_read_as_well(folder):
    text = (folder / "study.toml").read_text(encoding="utf-8")
    text = text.replace('[landscapes.a]\nlandscape = "A"', '[landscapes]\na = { landscape = "A" }')
    text = text.replace("[timings]\nfast = 1500\nslow = 6000\n", "[timings]\nfast = 1500\n'slow' = 6_000\n")
    (folder / "study.toml").write_text(text, encoding="utf-8")
    assert len(load_study(folder).cells) == 24


def test_a_translation(folder):
    file = folder / "texts.toml"
    labels = "\n".join(f'{key} = """Já: {text} — žluťoučký"""' for key, text in template_labels().items())
    file.write_text(f'language = "cs"\ndirection = "ltr"\n[labels]\n{labels}\n', encoding="utf-8")
    texts = load_study(folder).texts
    assert texts.language == "cs"
    assert set(texts.labels) == set(template_labels())
    assert all(label.startswith("Já") for label in texts.labels.values())


def test_text_from_right_to_left(folder):
    text = (folder / "texts.toml").read_text(encoding="utf-8")
    text = re.sub(r'^language = "[^"]*"', 'language = "ar"', text, flags=re.MULTILINE)
    text = re.sub(r'^direction = "[^"]*"', 'direction = "rtl"', text, flags=re.MULTILINE)
    (folder / "texts.toml").write_text(text, encoding="utf-8")
    assert load_study(folder).texts.direction == "rtl"


def test_the_environment_names_the_database(folder, monkeypatch):
    monkeypatch.setenv(DATABASE, "postgresql+psycopg://me:hush@host/db")
    assert load_study(folder).database == "postgresql+psycopg://me:hush@host/db"
    monkeypatch.setenv(DATABASE, "mysql://me:hush@host/db")
    (problem,) = problems(folder)
    assert DATABASE in problem
    assert "hush" not in problem


# What is wrong --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_value_is_one_sentence_with_its_line(folder, wrong):
    old, new, sentence, *below = WRONG[wrong]
    line = change(folder / "study.toml", old, new) + sum(below)
    assert problems(folder) == [f"my-study/study.toml, line {line}: {sentence}"]


def test_a_grid_of_too_many_squares(folder):
    change(folder / "study.toml", "width = 10 ", "width = 100 ")
    line = change(folder / "study.toml", "height = 10 ", "height = 100 ") - 2
    assert problems(folder) == [
        f"my-study/study.toml, line {line}: [grid] must have 2 to 2500 squares, got 100 x 100 = 10000."
    ]


def test_all_problems_are_told_at_once_in_their_order(folder):
    last = change(folder / "study.toml", "most = 10.00", "most = -1")
    first = change(folder / "study.toml", "fast = 1500", "fast = 0")
    (folder / "consent.md").unlink()
    (folder / "preview.md").write_text(" \n", encoding="utf-8")
    assert problems(folder) == [
        f"my-study/study.toml, line {first}: [timings] fast must be 20 to 600000 milliseconds, got 0.",
        f"my-study/study.toml, line {last}: [payment] most must be 0 to 1000000, got -1.",
        "my-study/consent.md: cannot read the file: No such file or directory.",
        "my-study/preview.md, line 1: expected a page of text in Markdown, got an empty file.",
    ]


def test_a_missing_table(folder):
    change(folder / "study.toml", "[timings]\nfast = 1500\nslow = 6000\n", "")
    assert problems(folder) == ["my-study/study.toml: expected a table [timings], got none."]


def test_an_empty_file_lacks_every_table_that_is_needed(folder):
    (folder / "study.toml").write_text("", encoding="utf-8")
    assert len(problems(folder)) == 7


@pytest.mark.parametrize(
    ("new", "line", "words"),
    [("[grid", 3, "expected TOML"), ("x = ", 3, "invalid value"), (f"x = {'9' * 5000}", None, "expected TOML")],
)
def test_what_is_not_toml(folder, new, line, words):
    (folder / "study.toml").write_text(f"# a\n\n{new}\n", encoding="utf-8")
    (problem,) = problems(folder)
    assert problem.startswith("my-study/study.toml" + (f", line {line}:" if line else ":"))
    assert words in problem


def test_what_is_nested_too_deeply(folder):
    (folder / "study.toml").write_text(f"x = {'[' * 5000}{']' * 5000}", encoding="utf-8")
    (problem,) = problems(folder)
    assert problem.startswith("my-study/study.toml: expected a TOML file")


def test_what_is_not_utf_8(folder):
    (folder / "consent.md").write_bytes("Hello\n\nGr\xfc\xdfe".encode("latin-1"))
    assert problems(folder) == ["my-study/consent.md, line 3: expected text in UTF-8, got the byte 0xfc."]


def test_no_study_there(tmp_path):
    assert "study init" in problems(tmp_path / "none")[0]
    assert problems(tmp_path) == [
        f"{tmp_path}: this folder has no study.toml; create a study with `explorelab study init FOLDER`."
    ]


def test_a_password_is_never_shown(folder):
    for url in ("mysql://me:hush@host/db", "postgresql://me:hush@host", "postgresql://me:hush@host:port/db"):
        (folder / "study.toml").write_text(f'[database]\nurl = "{url}"\n', encoding="utf-8")
        assert "hush" not in "\n".join(problems(folder))


def test_names_that_join_to_the_same_condition(folder):
    change(folder / "study.toml", "fast = 1500", "fast = 1500\nfast-travel = 99")
    change(folder / "study.toml", 'timings = ["fast", "slow"]', 'timings = ["fast", "fast-travel"]')
    change(folder / "study.toml", "[landscapes.b]", "[landscapes.travel-a]")
    line = change(folder / "study.toml", 'landscapes = ["a", "b"]', 'landscapes = ["a", "travel-a"]')
    (problem,) = problems(folder)
    assert problem.startswith(f"my-study/study.toml, line {line - 5}: [task] must have names that keep conditions distinct")


@pytest.mark.parametrize(
    "redirect", ["https://x.org/?cc={code}", "http://localhost:8000/", "http://[::1]/done", "https://x.org"]
)
def test_redirects_that_are_fine(folder, redirect):
    change(folder / "study.toml", 'redirect = ""', f'redirect = "{redirect}"')
    assert load_study(folder).completion.redirect == redirect


def test_a_redirect_with_a_code_needs_one(folder):
    change(folder / "study.toml", 'redirect = ""', 'redirect = "https://x.org/{code}"')
    change(folder / "study.toml", 'code = "CHANGE-ME"', "")
    assert "so a setting code is needed" in problems(folder)[0]
