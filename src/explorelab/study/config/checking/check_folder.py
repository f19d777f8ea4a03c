"""Everything that is wrong or doubtful in a study's folder, and how long the study takes and what it pays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from explorelab._support.toml.toml_file import Toml
from explorelab.study.config.checking import left_open, markdown_checks, translation
from explorelab.study.config.checking.findings import Finding, in_order
from explorelab.study.config.checking.form_checks import doubtful_forms, doubtful_pages
from explorelab.study.config.checking.length import Length, lengths
from explorelab.study.config.checking.pay import Pay, pay_of, too_little
from explorelab.study.config.checking.written import parts_of, toml_of
from explorelab.study.config.design import Study, Texts
from explorelab.study.config.fields import WrongFilesError
from explorelab.study.config.study_folder import load_study
from explorelab.study.config.texts import without_value


class Checked(NamedTuple):
    """What was found in a study's folder; of one that cannot be read, only what keeps it from being read."""

    findings: Sequence[Finding]
    lengths: Sequence[Length] = ()
    pay: Pay | None = None

    @property
    def is_ready(self) -> bool:
        """Whether the study can be served to the public."""
        return all(each.level == "doubtful" for each in self.findings)


def check_folder(folder: Path) -> Checked:
    """Look through a study's folder."""
    try:
        study = load_study(folder)
    except WrongFilesError as error:
        return Checked(
            in_order(Finding(_named(file, folder), line, "wrong", "settings", said) for file, line, said in error.found)
        )
    takes = lengths(study)
    return Checked(look_through(study, folder, takes), takes, pay_of(study, takes))


def look_through(study: Study, folder: Path, takes: Sequence[Length] | None = None) -> list[Finding]:
    """What is doubtful or to be filled in, in a study that can be read."""
    return in_order([*_settings(study, folder, lengths(study) if takes is None else takes), *_texts(study, folder)])


def _settings(study: Study, folder: Path, takes: Sequence[Length]) -> Iterator[Finding]:
    toml = toml_of(folder / "study.toml")
    yield from left_open.leaving(study.completion, _line(toml, "completion", "code"))
    yield from too_little(study, takes, _line(toml, "payment", "base"))
    url = toml.values.get("database", {}).get("url", "") if toml is not None else ""
    if isinstance(url, str) and "@" in url and ":" in url.rpartition("@")[0].partition("://")[2]:
        sentence = "the database's address contains a password; set the environment variable EXPLORELAB_DATABASE instead"
        yield Finding("study.toml", _line(toml, "database", "url"), "doubtful", "settings", sentence)
    if study.versions:
        yield from _forgotten(study, folder)


def _forgotten(study: Study, folder: Path) -> Iterator[Finding]:
    """Texts that nobody sees: folders of languages that study.toml does not name, and pages beside those folders."""
    for file in sorted(folder.glob("*/texts.toml")):
        if file.parent.name not in study.languages:
            sentence = f"is not among [study] languages ({', '.join(study.languages)}), so nobody sees its texts"
            yield Finding(f"{file.parent.name}/texts.toml", None, "doubtful", "language", sentence)
    if (folder / "texts.toml").exists():
        sentence = "is not used: the texts of a study in several languages are in a folder for each"
        yield Finding("texts.toml", None, "doubtful", "language", sentence)


def _texts(study: Study, folder: Path) -> Iterator[Finding]:
    written = {}
    for number, language in enumerate(study.languages):
        version = study.speaking(language)
        within = f"{language}/" if f"{language}/texts.toml" in study.files else ""
        raw = written[language] = version.unfilled or version.texts
        parts = list(parts_of(raw, within, folder))
        yield from (*left_open.to_fill_in(parts), *left_open.unfillable(parts), *left_open.without_contact(raw, within))
        yield from left_open.meaningless(parts, without_value(study))
        yield from (*markdown_checks.unseen(parts, folder), *translation.untranslated(language, parts))
        yield from _labels(raw, folder, f"{within}texts.toml")
        if not number:
            yield from (*doubtful_forms(version, folder, within), *doubtful_pages(study, folder))
    if study.versions:
        yield from translation.differing(written)


def _labels(texts: Texts, folder: Path, file: str) -> Iterator[Finding]:
    """What is doubtful about the short texts of the page."""
    toml = toml_of(folder / file)
    labels = toml.values.get("labels", {}) if toml is not None else {}
    found = [
        *markdown_checks.unseen_labels(texts.labels, file), *translation.untranslated_labels(texts, file),
        *translation.lacking(labels, texts.language, file),
    ]  # fmt: skip
    yield from (each._replace(line=each.line or _line_of_label(toml, each)) for each in found)


def _line_of_label(toml: Toml | None, found: Finding) -> int | None:
    """The line of the first label that a finding names."""
    if toml is None:
        return None
    words = set(re.findall(r"\w+", found.sentence))
    lines = [toml.line_of(("labels", name)) for name in toml.values.get("labels", {}) if name in words]
    return min((line for line in lines if line), default=None)


def _line(toml: Toml | None, *at: str) -> int | None:
    return None if toml is None else toml.line_of(at)


def _named(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else str(file)
