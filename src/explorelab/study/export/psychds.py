"""The Psych-DS form of an export: file names, and what each column contains."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from explorelab._support.written_numbers import Json
from explorelab.choices.advice_given import ARM_OF_STUDY
from explorelab.study.config.blocks.block_design import BlockDesign
from explorelab.study.session.choice_fields import FIELDS, MILLISECONDS, POINTS
from explorelab.study.session.doubts import REASONS
from explorelab.study.session.pages.exclusions import RULES
from explorelab.study.session.stages import PLAYED, UNDER_WAY, Stage
from explorelab.tasks.noise import NOISES

SCHEMA = "Psych-DS 0.4.0"

NOISE_NAMES = ", or ".join(f"{kind.name} ({kind.meaning})" if kind.meaning else kind.name for kind in NOISES.values())


class Variable(NamedTuple):
    """What a column holds."""

    description: str
    unit: str = ""
    least: float | None = None
    most: float | None = None


NO_OTHERS: Mapping[str, Variable] = MappingProxyType({})

VARIABLES: dict[str, Variable] = {
    "participant": Variable("Random code of the person; it says nothing about who they are."),
    "source": Variable("Where the person came from: plain (a link), prolific, mturk, or pilot (a robot)."),
    "pilot": Variable("1: a robot in a pilot; 0: a person.", least=0, most=1),
    "agent": Variable("For robots: which agent played, with its parameters."),
    "stage": Variable(
        f"How far the person has come: {', '.join((*UNDER_WAY, *PLAYED))}, {Stage.SCREENED} (failed a quiz) or "
        f"{Stage.WITHDRAWN} (data kept)."
    ),
    "cell": Variable("Condition: timing, dynamic and landscape of the first task block, then the second's dynamic."),
    "seed": Variable("Seed of the person's start squares and rewards; read it as text, it has up to 19 digits."),
    "n_pages": Variable("How often the person loaded the page.", "page loads", 1),
    "n_choices": Variable("Choices recorded in all blocks, training included.", "choices", 0),
    "n_missed": Variable("How many of them had no click.", "choices", 0),
    "points": Variable("Sum of the rewards of all task blocks.", POINTS),
    "bonus": Variable("Bonus for the points, if the person has played all blocks.", "money, see currency"),
    "base": Variable("Base payment promised to the person at consent.", "money, see currency", 0),
    "per_point": Variable("Bonus per point promised to the person at consent.", "money, see currency", 0),
    "most_bonus": Variable("Largest bonus promised to the person at consent.", "money, see currency", 0),
    "currency": Variable("Currency of the person's payment, as promised at consent."),
    "doubts": Variable(
        "Why the person may not have played by hand or in time, separated by spaces; empty: no reason to think so. "
        + "; ".join(f"{word}: {meaning}" for word, meaning in REASONS.items())
        + "."
    ),
    "arrived_at": Variable("When the person first loaded the page, UTC.", "ISO 8601"),
    "seen_at": Variable("When the server last heard from the person, UTC.", "ISO 8601"),
    "finished_at": Variable("When the person reached the end, UTC; empty if they did not.", "ISO 8601"),
    "language": Variable("The language in which the person saw the study; empty for people from before it was stored."),
    "consented_at": Variable("When the person agreed to take part, UTC.", "ISO 8601"),
    "version": Variable("SHA-256 of the consent text that was agreed to."),
    "text_file": Variable("The file with that text."),
    "block": Variable("Number of the task block in the order of play, from 1; empty in training.", least=1),
    "block_number": Variable("Number of the block in the order of play, training included, from 1.", least=1),
    "kind": Variable("Kind of block: training or task."),
    "dynamic": Variable(
        "Which squares can be reached: standard (any), neighbour (the current square and those that share a side with it), "
        "travel (any square is a goal, and the dot walks one square towards it with each choice)."
    ),
    "timing": Variable("Name of the time limit for a choice; deadline_ms has it in milliseconds."),
    "deadline_ms": Variable("Time limit for a choice.", MILLISECONDS, 0),
    "landscape": Variable("Name of the landscape; the table of landscapes has the squares' mean rewards."),
    "n_trials": Variable("How many choices the block has when it is complete.", "choices", 1),
    "start": Variable("Square on which both dots were before the block's first choice, from 0."),
    ARM_OF_STUDY: Variable(
        "Condition of advice: none, impersonal (what UCL with the task's prior would do), personal (what is best for this "
        "person and the adviser together), or one of these with -quiet (silent where little can be gained); empty: training."
    ),
    "begun_at": Variable("When the block began, UTC.", "ISO 8601"),
    "event": Variable("What happened: hidden, visible, blur, focus, offline, online, pause, resume, ..."),
    "number": Variable("Number of the event in its page load, from 0.", least=0),
    "page_ms": Variable("Time from loading the page to the event.", MILLISECONDS, 0),
    "value": Variable("Number that goes with the event, such as a duration in milliseconds; empty if there is none."),
    "failed_checks": Variable("How many attention checks the person has failed.", "questions", 0),
    "excluded": Variable(
        "Why the person is to be left out of analyses, by the rules that the study stated before, separated by spaces; "
        "empty: they are not. " + "; ".join(f"{word}: {meaning}" for word, meaning in RULES.items()) + "."
    ),
    "page_name": Variable("Name of the page, as in the list [[pages]] of study.toml."),
    "page_kind": Variable("Kind of page: text, quiz, form, break, score."),
    "step": Variable("Place of the page on the person's way through the study, from 1.", least=1),
    "attempt": Variable("For which time the page was shown: a quiz sends people back.", least=1),
    "shown_at": Variable("When the page was shown for that time, by the server's clock, UTC.", "ISO 8601"),
    "left_at": Variable("When the person left the page, by the server's clock, UTC.", "ISO 8601"),
    "passed": Variable(
        "1: the answer is the expected one (of a page: all are); 0: it is not; empty: any answer will do.", least=0, most=1
    ),
    "page_elapsed_ms": Variable("Time from the page's last load to leaving it, by the browser's clock.", MILLISECONDS, 0),
    "n_wrong": Variable("Answers on the page that are not the expected ones: failed attention checks.", "answers", 0),
    "question": Variable("Name of the question."),
    "question_kind": Variable("Kind of question: choice, several, scale, number, text."),
    "question_text": Variable("The question as it was shown, in Markdown."),
    "answer": Variable(
        "The answer: the name of an option, a JSON list of names (several), a step from 1 (scale), a number, or text; "
        "empty: none was given."
    ),
    "answer_text": Variable("The words beside the options that were chosen, in the person's language."),
    "score": Variable("Name of the sum that the answer counts in; empty: none."),
    "counted": Variable("What the answer counts in that sum; a reversed scale is turned round here."),
    "answered_ms": Variable("When the answer was last changed, since the page was last loaded.", MILLISECONDS, 0),
    "options": Variable("The options as JSON: {name: words, ...}; the steps of a scale from 1."),
    "required": Variable("1: the question must be answered; 0: it may be left empty.", least=0, most=1),
    "expected": Variable("The answers that are right, as a JSON list; empty: any answer will do."),
    "least": Variable("Smallest number, or fewest options, that people can answer."),
    "most": Variable("Largest number, or most options or characters, that people can answer."),
    "x": Variable("Column of the square from the left, from 0.", least=0),
    "y": Variable("Row of the square from the top, from 0.", least=0),
    "mean_reward": Variable("Mean reward of the square.", POINTS),
    "noise": Variable(f"How rewards vary: {NOISE_NAMES}."),
    "reward_variance": Variable("Variance of a reward around its mean.", "points squared", 0),
    "block_name": Variable("Name of the block in study.toml."),
    "page": Variable("Number of the page to which the block belongs, among pages with blocks, from 1.", least=1),
    "layout": Variable("How the arms lie on the screen: grid, buttons, line, graph."),
    "rewards": Variable("How rewards are shown: points, money, hidden."),
    "foregone": Variable("1: the rewards of the other arms are shown too; 0: they are not.", least=0, most=1),
    "scene": Variable("What a block is played on: its name, and the levels of the factors that change it."),
    "label": Variable("What people read on the arm."),
    "colour": Variable("The arm's colour; empty: the usual one."),
    "picture": Variable("File with the arm's picture, in materials/study; empty: none."),
    "screen_x": Variable("Where the arm is drawn, from 0 at the left to 1 at the right; empty: no graph.", least=0, most=1),
    "screen_y": Variable("Where the arm is drawn, from 0 at the top to 1 at the bottom; empty: no graph.", least=0, most=1),
} | {each.name: Variable(each.description, each.unit, each.least, each.most) for each in FIELDS if each.files}
"""Every column of every file; a name means the same wherever it occurs."""


def own_variables(design: BlockDesign) -> dict[str, Variable]:
    """What the columns of a design hold that the paper's has not, or that mean something else in it."""
    found = {
        "cell": Variable("Condition: the levels of factors between persons, then which of the orders, o1 being the first."),
        "timing": Variable("The time limit for a choice, in words."),
        "deadline_ms": Variable("Time limit for a choice; empty: there is none.", MILLISECONDS, 0),
        "landscape": Variable("Name of the task in study.toml."),
        "overrun_ms": Variable("How much elapsed_ms exceeds deadline_ms; 0 without a deadline.", MILLISECONDS),
        "mean_reward": Variable("Mean reward of the arm; empty: it changes.", POINTS),
        "start": Variable("Arm on which both dots were before the block's first choice, from 0."),
        "arm": Variable("Arm that was sampled, from 0; on a grid, column times height plus row."),
        "available": Variable("Arms that could be sampled, separated by spaces; empty: all."),
    }
    for factor in design.factors:
        kind = "within" if factor.within else "between"
        told = f"Level of the factor {factor.name}, {kind} persons, in this block: {', '.join(factor.levels)}"
        found[factor.name] = Variable(f"{told}; empty: it does not change this block.")
    conditions = dict.fromkeys(name for scene in design.scenes.values() for name in scene.task.conditions)
    return found | {name: Variable(f"What the task says of itself: {name.replace('_', ' ')}.") for name in conditions}


def data_name(study: str, table: str) -> str:
    """The name of a file of data: official keywords of Psych-DS, whose values are letters and digits."""
    return f"study-{re.sub('[^a-zA-Z0-9]', '', study) or 'unnamed'}_description-{table}_data.csv"


def description_json(about: dict[str, Json], columns: list[str], own: Mapping[str, Variable] = NO_OTHERS) -> str:
    """The text of dataset_description.json: a schema.org Dataset with a description of each of the columns."""
    described = [_property(name, {**VARIABLES, **own}[name]) for name in dict.fromkeys(columns)]
    whole = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        **about,
        "schemaVersion": SCHEMA,
        "variableMeasured": described,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _property(name: str, variable: Variable) -> dict[str, Json]:
    more = {"unitText": variable.unit or None, "minValue": variable.least, "maxValue": variable.most}
    said = {key: value for key, value in more.items() if value is not None}
    return {"@type": "PropertyValue", "name": name, "description": variable.description, **said}
