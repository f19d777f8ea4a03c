"""What people read, from templates to HTML; new study folders; and the lines of settings."""

import re
import tomllib
from pathlib import Path

import pytest

from explorelab._support.toml.toml_lines import lines_of
from explorelab.errors import InputError
from explorelab.study.config import start_study
from explorelab.study.config.markdown import to_html
from explorelab.study.config.start_study import FILES, init_study
from explorelab.study.config.study_folder import load_study
from explorelab.study.config.texts import LANGUAGES, PAGES, TEMPLATES, template_labels
from tests.support.study.folder import change, new_study, problems

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return new_study(tmp_path, monkeypatch)


# Texts ----------------------------------------------------------------------------------------------------------------


def relabel(folder: Path, key: str, new: str) -> int:
    """Another line in texts.toml for this label; which line."""
    lines = (folder / "texts.toml").read_text(encoding="utf-8").split("\n")
    (number,) = [i for i, line in enumerate(lines) if re.match(rf"{key}\s*=", line)]
    lines[number] = new
    (folder / "texts.toml").write_text("\n".join(lines), encoding="utf-8")
    return number + 1


def a_label(*, with_placeholder: bool) -> str:
    return next(key for key, text in template_labels().items() if ("{" in text) == with_placeholder and len(key) > 4)


def test_a_label_that_is_missing_unknown_or_no_text(folder):
    key = a_label(with_placeholder=False)
    line = relabel(folder, key, f'{key}x = "Hello"')
    came = problems(folder)
    assert f"my-study/texts.toml, line {line}: unknown setting in [labels] '{key}x': did you mean '{key}'?" in came
    assert any(
        re.fullmatch(rf"my-study/texts\.toml, line \d+: \[labels\] must have a setting {key}, got none\.", c) for c in came
    )
    relabel(folder, f"{key}x", f"{key} = 5")
    assert problems(folder) == [f"my-study/texts.toml, line {line}: [labels] {key} must be text in quotes, got 5."]
    relabel(folder, key, f'{key} = " "')
    assert problems(folder) == [f"my-study/texts.toml, line {line}: [labels] {key} must not be empty, got ' '."]


def test_placeholders_of_a_label_are_those_of_the_template(folder):
    key = a_label(with_placeholder=True)
    line = relabel(folder, key, f'{key} = "nothing"')
    (problem,) = problems(folder)
    assert problem.startswith(f"my-study/texts.toml, line {line}: [labels] {key} must have {{")
    assert problem.endswith("got no placeholders.")
    plain = a_label(with_placeholder=False)
    line = relabel(folder, plain, f'{plain} = "{{more}}"')
    assert f"my-study/texts.toml, line {line}: [labels] {plain} must have no placeholders, got {{more}}." in problems(folder)


def test_language_and_direction(folder):
    text = (folder / "texts.toml").read_text(encoding="utf-8")
    text = re.sub(r'^language = "[^"]*"', 'language = "<b>"', text, flags=re.MULTILINE)
    text = re.sub(r'^direction = "[^"]*"', 'direction = "up"', text, flags=re.MULTILINE)
    (folder / "texts.toml").write_text(text, encoding="utf-8")
    language, direction = problems(folder)
    assert language.endswith('language must be a code such as "en" or "pt-BR", got \'<b>\'.')
    assert direction.endswith('direction must be "ltr" or "rtl", got \'up\'.')


def test_an_unknown_placeholder_of_a_page(folder):
    (folder / "declined.md").write_text("# Bye\n\nThe {titel} and {}.\n", encoding="utf-8")
    first, second = problems(folder)
    assert first == "my-study/declined.md, line 3: unknown placeholder '{titel}': did you mean '{title}'?"
    assert second.startswith("my-study/declined.md, line 3: unknown placeholder '{}'")


# A new folder ---------------------------------------------------------------------------------------------------------


def test_init_makes_every_file(tmp_path):
    made = init_study(tmp_path / "new")
    assert {path.name for path in made} == {path.name for path in (tmp_path / "new").iterdir()} == set(FILES)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert (tmp_path / "new").stat().st_mode & 0o777 == (tmp_path.stat().st_mode | 0o055) & 0o777 & ~_umask()


def _umask() -> int:
    import os

    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_init_fills_an_empty_folder_and_leaves_it_the_same_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    init_study(Path("."))
    assert tmp_path.stat().st_ino == before
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)


def test_init_refuses_a_folder_with_something_in_it(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="expected a new or empty folder, but it is not empty"):
        init_study(tmp_path / "old")
    with pytest.raises(InputError, match="but this is a file"):
        init_study(tmp_path / "old" / "mine.txt")
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        init_study(tmp_path / "none" / "new")
    assert [path.name for path in (tmp_path / "old").iterdir()] == ["mine.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize(("failing", "there"), [("copyfile", False), ("copyfile", True), ("move", True)])
def test_init_leaves_nothing_half_written(tmp_path, monkeypatch, there, failing):
    real, calls = getattr(start_study.shutil, failing), []

    def full(source, target):
        calls.append(target)
        if len(calls) == 4:
            raise OSError(28, "No space left on device")
        return real(source, target)

    if there:
        (tmp_path / "new").mkdir()
    monkeypatch.setattr(start_study.shutil, failing, full)
    with pytest.raises(InputError, match="No space left on device"):
        init_study(tmp_path / "new")
    assert list(tmp_path.rglob("*")) == ([tmp_path / "new"] if there else [])


# Lines of a TOML file -------------------------------------------------------------------------------------------------

TRICKY = '''# [not.a.table]
top = "a # not a comment = [x]" # but this
"quoted.key".'other key'.plain = 1
[table] # a comment with [brackets]
# key = "commented out"
  first = """
second = "in a text"
[also.text] \\""" """
literal = \'\'\'
x = 'quotes' \'\'\'\'
empty = ""
also = \'\'
many = [
  # 1,
  1, [2, # two
  3], "],", { in = "}", out = { deep = [ 4 ] } },
]
when = 1979-05-27 07:32:00Z
dotted.a = 1
dotted . "b" = inf
[table.below]
x = 0x1f \n
[[rows]]
y = 1
[[rows]]
y = 2
[rows.sub]
z = 1
[[rows.inner]]
w = true
'''


def paths_in(value, at=()):
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*at, key)
            yield from paths_in(item, (*at, key))


def test_every_value_of_a_file_has_its_line():
    lines = lines_of(TRICKY)
    assert set(lines) == set(paths_in(tomllib.loads(TRICKY)))
    source = TRICKY.split("\n")

    def at(*path):
        return source[lines[path] - 1].strip()

    assert at("top").startswith("top")
    assert at("quoted.key", "other key", "plain").startswith('"quoted.key"')
    assert at("table") == "[table] # a comment with [brackets]"
    assert at("table", "first") == 'first = """'
    assert at("table", "literal") == "literal = '''"
    assert at("table", "empty") == 'empty = ""'
    assert at("table", "many") == "many = ["
    assert at("table", "many", 1).startswith("1, [2")
    assert at("table", "many", 1, 1).startswith("3]")
    assert at("table", "many", 3, "out", "deep", 0).startswith("3]")
    assert at("table", "dotted", "b").startswith("dotted .")
    assert at("table", "below", "x").startswith("x = 0x1f")
    assert at("rows", 1, "y") == "y = 2"
    assert at("rows", 1, "sub", "z") == "z = 1"
    assert at("rows", 1, "inner", 0, "w") == "w = true"


@pytest.mark.parametrize("name", ["study.toml", *(f"{language}/texts.toml" for language in LANGUAGES)])
def test_every_value_of_the_templates_has_its_line(name):
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    assert set(lines_of(text)) == set(paths_in(tomllib.loads(text)))


# Pages as HTML --------------------------------------------------------------------------------------------------------


def test_what_markdown_is_for():
    html = to_html("# A\n\nSome *words* and **more**.\n\n- one\n- two\n\n1. x\n\n> said\n\n`code`\n")
    for part in (
        "<h1>A</h1>",
        "<em>words</em>",
        "<strong>more</strong>",
        "<li>one</li>",
        "<ol>",
        "<blockquote>",
        "<code>code",
    ):
        assert part in html


def test_links():
    html = to_html('[us](https://example.org/?a=1&b=2 "A title") <mailto:me@example.org>')
    assert 'href="https://example.org/?a=1&amp;b=2"' in html
    assert 'href="mailto:me@example.org"' in html
    assert html.count('rel="noopener"') == 2


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "//x.org",
     "/admin", "admin", "&#106;avascript:alert(1)", "java&#10;script:alert(1)", "ftp://x.org", "https:", "httpsx://y",
     "#top"],
)  # fmt: skip
def test_addresses_that_are_no_links(address):
    html = to_html(f"[x]({address}) [x](<{address}>) <{address}> [y]\n\n[y]: {address}\n")
    assert "<a" not in html


def test_tables_are_aligned_without_styles():
    html = to_html("|a|b|\n|:-|-:|\n|1|2|\n")
    assert 'class="align-right"' in html
    assert "style" not in html


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT,
        f"# {SCRIPT}",
        f"- {SCRIPT}",
        f"`{SCRIPT}`",
        f"```{SCRIPT}\n{SCRIPT}\n```",
        f"    {SCRIPT}",
        f"[{SCRIPT}](https://x.org)",
        f"[x](https://x.org/{SCRIPT})",
        f"[x](https://x.org \"{SCRIPT}\")",
        f"![{SCRIPT}](https://x.org/x.png)",
        f"|{SCRIPT}|\n|-|\n|{SCRIPT}|",
        "<img src=x onerror=alert(1)>",
        "<!-- --><svg onload=alert(1)>",
        '[x](https://x.org/"onmouseover="alert(1))',
        "<https://x.org/\"><script>alert(1)</script>>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
    ],
)  # fmt: skip
def test_pages_hold_no_script(text):
    html = to_html(text)
    assert not re.search(r"<\s*/?\s*(script|img|svg|iframe|style)", html, re.IGNORECASE)
    assert not re.search(r"<[^>]*\s(on\w+|style)\s*=", re.sub(r'"[^"]*"', '""', html), re.IGNORECASE)


def test_script_in_every_text_of_a_study(folder):
    change(folder / "study.toml", '"A game of squares"', f'"{SCRIPT} *a* [b](https://c.org) _d_"')
    labels = "\n".join(f'{key} = """{SCRIPT} {text}"""' for key, text in template_labels().items())
    (folder / "texts.toml").write_text(f'language = "en"\ndirection = "ltr"\n[labels]\n{labels}\n', encoding="utf-8")
    for page in PAGES:
        (folder / f"{page}.md").write_text(f"{SCRIPT}\n\n# {{title}}\n\n{SCRIPT} {{title}}\n", encoding="utf-8")
    texts = load_study(folder).texts
    assert all(label.startswith(SCRIPT) for label in texts.labels.values())  # labels are text and shown as text
    for text in texts.pages.values():
        html = to_html(text)
        assert "<script" not in html
        assert html.count("&lt;script&gt;") == 4
        assert "*a* [b](https://c.org) _d_" in html  # a title is shown as it is written
        assert "<a" not in html
