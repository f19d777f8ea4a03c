"""Pictures of a study: shown where texts refer to them, and nothing else of the folder or the computer is served."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from explorelab.study.config.checking.check_folder import check_folder
from explorelab.study.config.markdown import to_html
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study
from explorelab.study.session.pages.picture_files import MOST_BYTES, Picture, kind_of, read_picture
from tests.support.study.lab import Lab, Tab

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
OUTSIDE = "must be a file in the study folder"
MORE = "\n\n![The dots](dots.png)\n\n![](dots.png)\n\n![Gone](gone.png)\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "png"), (b"\xff\xd8\xff\xe0..", "jpeg"), (b"GIF89a..", "gif"), (b"RIFF....WEBPVP8 ", "webp"), (SVG, None),
        (b"<html>", None), (b"", None), (b"RIFF....WAVE", None), (b"MZ", None),
    ],
)  # fmt: skip
def test_a_picture_is_known_by_its_content(data: bytes, kind: str | None) -> None:
    assert kind_of(data) == kind


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    (folder / "de").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "dots.png").write_bytes(PNG)
    (folder / "two words.png").write_bytes(PNG)
    (folder / "de" / "own.png").write_bytes(PNG + b"de")
    (folder / "evil.png").write_bytes(SVG)
    (folder / "huge.png").write_bytes(PNG + bytes(MOST_BYTES))
    (folder / "out.png").symlink_to(tmp_path / "secret.png")
    (folder / "in.png").symlink_to(folder / "dots.png")
    return folder


@pytest.mark.parametrize(
    ("reference", "wrong"),
    [
        *((each, OUTSIDE) for each in ("../a.png", "de/../../a.png", "%2e%2e/a.png", "/etc/passwd", "..\\a.png")),
        ("https://example.org/a.png", OUTSIDE),
        ("out.png", "leads out of the study folder"),
        *((each, "is not in the study folder") for each in ("none.png", ".", "", "de")),
        ("evil.png", "must be PNG, JPEG, GIF or WebP, and is something else by its content"),
        ("huge.png", "must have at most 2048 KiB, got 2048 KiB"),
    ],
)
def test_what_is_no_picture_of_the_study_is_not_read(folder: Path, reference: str, wrong: str) -> None:
    assert read_picture(folder, reference) == wrong


def test_a_language_has_pictures_of_its_own_and_those_of_all(folder: Path) -> None:
    def file(reference: str, language: str = "") -> str:
        read = read_picture(folder, reference, language)
        assert isinstance(read, Picture), read
        return read.file

    assert (file("dots.png", "de"), file("own.png", "de")) == ("dots.png", "de/own.png")
    assert (file("two%20words.png"), file("in.png")) == ("two words.png", "in.png")


def test_only_pictures_that_were_read_are_shown() -> None:
    known = (("a.png", "pictures/1.png"), ("two%20words.png", "pictures/2.png"))
    assert to_html("![the <dots>](a.png)", known) == '<p><img src="pictures/1.png" alt="the &lt;dots&gt;"></p>\n'
    assert "pictures/2.png" in to_html("![x](<two words.png>)", known)
    assert "<img" not in to_html('![x](b.png) ![x](https://e.org/a.png) ![x](data:image/png;base64,AA "t")', known)
    assert "<img" not in to_html("![x](a.png)")
    assert "<script" not in to_html('![<script>](a.png "<script>") <script>', known)


def test_pictures_are_served_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    init_study(folder)
    (folder / "dots.png").write_bytes(PNG)
    (folder / "other.png").write_bytes(PNG + b"other")
    text = (folder / "consent.md").read_text(encoding="utf-8")
    (folder / "consent.md").write_text(
        f"{text}\n![The dots](dots.png)\n\n![](dots.png)\n\n![Gone](gone.png)\n", encoding="utf-8"
    )
    study = load_study(folder)
    assert set(study.files) >= {"dots.png", "consent.md"}
    assert "other.png" not in study.files
    said = [each.sentence for each in check_folder(folder).findings if each.about == "picture"]
    assert said == [
        "the picture dots.png has no description for people who cannot see it: ![description](dots.png)",
        "the picture gone.png is missing: there is no such file in the study folder",
    ]
    lab = Lab(study, folder)
    with lab.client:
        html = Tab(lab).state["html"]["consent"]
        (name,) = study.pictures
        assert f'<img src="pictures/{name}" alt="The dots">' in html
        assert "![Gone](gone.png)" in html
        answer = lab.client.get(f"/pictures/{name}")
        assert (answer.content, answer.headers["content-type"]) == (PNG, "image/png")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
        for other in ("dots.png", "other.png", "..%2fstudy.db", "%2e%2e/study.toml", f"{name}/", f"../{name}", "study.db"):
            assert lab.client.get(f"/pictures/{other}").status_code == 404, other
