"""Files as others write them: hBayesDM's text, jsPsych's JSON, Psych-DS folders, Psych-201's JSON lines, several at once."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import explorelab as xl
from explorelab.choices.table import no_advice
from explorelab.errors import InputError
from explorelab.recovery.designs import repeated

pytestmark = pytest.mark.quick

ROWS = pd.DataFrame(
    {
        "participant": ["a"] * 4 + ["b"] * 4,
        "block": [1, 1, 2, 2] * 2,
        "trial": [1, 2] * 4,
        "arm": [0, 2, 1, 1, 2, 0, 0, 1],
        "reward": [1.5, 2.0, -3.0, 4.0, 5.25, 6.0, 1e-7, 1e6],
        "group": ["old"] * 4 + ["new"] * 4,
    }
)


def same(one: xl.Choices, other: xl.Choices) -> None:
    assert one.participants == other.participants
    for name in ("arm", "reward", "observed", "scored", "present"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.layout.n_arms == other.layout.n_arms


def test_hbayesdm_outcomes_and_gains(tmp_path: Path) -> None:
    outcome = pd.DataFrame({"subjID": [7, 7, 8, 8], "choice": [1, 4, 2, 2], "outcome": [1, -1, 0, 1]})
    outcome.to_csv(tmp_path / "bandit.txt", sep="\t", index=False)
    read = xl.read_choices(tmp_path / "bandit.txt")
    np.testing.assert_array_equal(read.arm, [[0, 3], [1, 1]])
    np.testing.assert_array_equal(read.reward, [[1, -1], [0, 1]])
    assert (read.participants, read.layout.n_arms) == (("7", "8"), 4)

    for sign in (-1, 1):
        gains = outcome.drop(columns="outcome").assign(gain=[50, 0, 100, 0], loss=sign * np.array([0, 25, 50, 0]))
        gains.to_csv(tmp_path / "gains.txt", sep="\t", index=False)
        np.testing.assert_array_equal(xl.read_choices(tmp_path / "gains.txt").reward, [[50, -25], [50, 0]])

    gains.assign(loss=[0, "much", 0, 0]).to_csv(tmp_path / "gains.txt", sep="\t", index=False)
    with pytest.raises(InputError, match="row 3, column loss: expected a number, got 'much'"):
        xl.read_choices(tmp_path / "gains.txt")


def test_a_file_that_only_looks_like_hbayesdm_is_read_as_its_columns_say(tmp_path: Path) -> None:
    frame = pd.DataFrame({"subjID": [7, 7], "t": [1, 2], "choice": [0, 1], "outcome": [1, 2]})
    frame.to_csv(tmp_path / "own.csv", index=False)
    columns = {"participant": "subjID", "arm": "choice", "reward": "outcome", "trial": "t"}
    read = xl.read_choices(tmp_path / "own.csv", columns=columns)
    np.testing.assert_array_equal(read.arm, [[0, 1]])


def plugin_block(**more: object) -> dict[str, object]:
    lists = {
        "trial": [0, 1, 2],
        "arm": [1, 1, 3],
        "goal": [1, 2, 3],
        "reward": [1.0, 2.0, 3.5],
        "missed": [False, True, False],
    }
    return {"trial_type": "grid-bandit", "trial_index": 3, **lists, "complete": True, **more}


def test_data_of_the_plugin(tmp_path: Path) -> None:
    session = [
        {"trial_type": "instructions", "rt": 3000, "subject": "P1"},
        plugin_block(width=2, height=2, dynamic="travel"),
        plugin_block(width=2, height=2, dynamic="standard"),
    ]
    (tmp_path / "data.json").write_text(json.dumps(session))
    read = xl.read_choices(tmp_path / "data.json")
    assert read.participants == ("P1",)
    assert read.layout.shape == (2, 2)
    assert list(read.conditions["dynamic"]) == ["travel", "standard"]
    np.testing.assert_array_equal(read.scored, [[True, False, True]] * 2)
    np.testing.assert_array_equal(read.observed, np.ones((2, 3), bool))

    short = plugin_block(arm=[1, 2])
    (tmp_path / "data.json").write_text(json.dumps([short]))
    with pytest.raises(
        InputError, match=r"data.json, data, block 1: expected lists trial, arm and reward of one length, got"
    ):
        xl.read_choices(tmp_path / "data.json")


@pytest.mark.parametrize(("layout", "has_places"), [("buttons", False), ("line", True), ("graph", False)])
def test_data_of_the_plugin_with_other_layouts(tmp_path: Path, layout: str, has_places: bool) -> None:
    offers = {"available": [[0, 2], None, None], "foregone": [[1, 2, 3, 4]] * 3, "overrun_ms": [None] * 3}
    of_graph = {"edges": [[0, 1]], "directed": True} if layout == "graph" else {}
    block = plugin_block(layout=layout, n_arms=4, arm=[2, 1, 3], **offers, **of_graph)
    (tmp_path / "jspsych.json").write_text(json.dumps([block]))
    read = xl.read_choices(tmp_path / "jspsych.json")
    assert read.layout.n_arms == 4
    assert (read.layout.places is not None) == has_places
    np.testing.assert_array_equal(read.available[0], [[True, False, True, False], [True] * 4, [True] * 4])
    assert not {"layout", "n_arms", "edges", "directed", "foregone"} & set(read.conditions)


@pytest.mark.parametrize("form", ["list of lists", "lines"])
def test_several_people_in_one_file_of_jspsych(tmp_path: Path, form: str) -> None:
    people = [
        [{"trial_type": "html", "stimulus": "Hello"}, *({"response": arm, "reward": arm + n} for arm in (0, 1, 1))]
        for n in range(2)
    ]
    text = json.dumps(people) if form == "list of lists" else "\n".join(map(json.dumps, people))
    (tmp_path / "data.json").write_text(text)
    report = xl.check_choices(tmp_path / "data.json", columns={"arm": "response"})
    assert report.choices is not None
    assert report.choices.participants == ("data 1", "data 2")
    np.testing.assert_array_equal(report.choices.reward, [[0, 1, 1], [1, 2, 2]])
    assert any("Left out: 2 objects" in note for note in report.notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got an empty one"),
        ("[]", "expected a list of jsPsych's trials, got an empty one"),
        ('{"a": 1}', "expected a list of jsPsych's trials, each an object, got"),
        ("[1, 2]", "got a list with 1 in it"),
        ('[{"choice": 1, "outcome": 2}]', "Is it 'outcome'"),
        ("[{", "cannot be read as JSON"),
    ],
)
def test_json_that_is_not_jspsychs(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "data.json").write_text(text)
    with pytest.raises(InputError, match=message):
        xl.read_choices(tmp_path / "data.json")


def test_a_psych_ds_folder(tmp_path: Path) -> None:
    (tmp_path / "dataset_description.json").write_text("{}")
    data = tmp_path / "data" / "raw"
    data.mkdir(parents=True)
    for who, rows in ROWS.groupby("participant"):
        rows.drop(columns="participant").to_csv(data / f"subject-{who}_task-bandit_data.csv", index=False)
    pd.DataFrame({"question": ["q"], "answer": [1]}).to_csv(data / "study-survey_data.csv", index=False)
    read = xl.check_choices(tmp_path)
    assert read.choices is not None, read.message()
    same(read.choices, xl.choices_from_frame(ROWS))
    assert set(read.choices.conditions["task"]) == {"bandit"}
    assert any("study-survey_data.csv" in note for note in read.notes)


@pytest.mark.parametrize("there", ["nothing", "description", "survey"])
def test_a_folder_without_choices(tmp_path: Path, there: str) -> None:
    if there != "nothing":
        (tmp_path / "dataset_description.json").write_text("{}")
    if there == "survey":
        (tmp_path / "data").mkdir()
        pd.DataFrame({"question": ["q"], "answer": [1]}).to_csv(tmp_path / "data" / "study-x_data.csv", index=False)
    message = {"nothing": "got no dataset_description", "description": "got no files data", "survey": "a column reward, got"}
    with pytest.raises(InputError, match=message[there]):
        xl.read_choices(tmp_path)


def test_psych201_there_and_back(tmp_path: Path) -> None:
    frame = ROWS.assign(reaction_time_ms=np.arange(8) * 100.0, missed=[0] * 7 + [1], forced=[1] + [0] * 7)
    frame.loc[7, ["arm", "reward", "reaction_time_ms"]] = np.nan
    choices = xl.choices_from_frame(frame)
    file = xl.write_psych201(choices, tmp_path / "prompts.jsonl", experiment="tried")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["participant"] for line in lines] == ["a", "b"]
    assert {line["experiment"] for line in lines} == {"tried"}
    assert lines[0]["text"].count("<<") == 3  # one of four was forced
    assert lines[0]["RTs"] == [100, 200, 300]
    read = xl.read_choices(file)
    same(read, choices)
    assert list(read.conditions["group"]) == list(choices.conditions["group"])


def test_psych201_keeps_the_names_of_arms(tmp_path: Path) -> None:
    names = np.array(["red", "green", "blue"], object)
    choices = xl.choices_from_frame(ROWS.assign(arm=names[ROWS.arm]), {"arms": list(names)})
    read = xl.read_choices(xl.write_psych201(choices, tmp_path / "prompts.jsonl"))
    same(read, choices)
    assert read.layout.arm_names == tuple(names)


def test_a_transcript_by_somebody_else(tmp_path: Path) -> None:
    text = (
        "You choose between two machines labelled V and C.\n\nGame 1:\n"
        "You are instructed to press C and get 61 points.\nYou press <<V>> and get -4.5 points.\n"
        "You press <<C>>. You receive 12 points.\n\nGame 2:\nYou press <<V>> and get 3 points.\n"
    )
    lines = [{"text": text, "experiment": "x/exp1.csv", "participant": i, "age": 20 + i} for i in range(2)]
    lines[1]["text"] = text.replace("V", "K").replace("C", "B")
    (tmp_path / "prompts.jsonl").write_text("\n".join(map(json.dumps, lines)))
    report = xl.check_choices(tmp_path / "prompts.jsonl")
    assert report.choices is not None, report.message()
    assert any("People's arms have different names" in note for note in report.notes)
    np.testing.assert_array_equal(report.choices.arm[:2], [[1, 0, 1], [0, -1, -1]])
    np.testing.assert_array_equal(report.choices.arm[2:], report.choices.arm[:2])
    np.testing.assert_array_equal(report.choices.reward[0], [61, -4.5, 12])
    np.testing.assert_array_equal(report.choices.scored[0], [False, True, True])
    assert list(report.choices.conditions["age"]) == [20, 20, 21, 21]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got an empty file"),
        ("{", "line 1: cannot be read as JSON"),
        ('{"text": "You press <<A>> and get 1 point."}', "line 1: expected an object with text, experiment and participant"),
        ('{"text": "Nothing.", "participant": 1}', "line 1: expected choices between << and >>"),
        (
            '{"text": "You press <<A>>, 1 point.", "participant": 1, "RTs": [1, 2]}',
            "expected as many RTs as choices, 1, got 2",
        ),
    ],
)
def test_lines_that_are_not_psych201s(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "prompts.jsonl").write_text(text)
    with pytest.raises(InputError, match=message):
        xl.read_choices(tmp_path / "prompts.jsonl")


def test_psych201_refuses_marks_in_instructions_and_other_names(tmp_path: Path) -> None:
    choices = xl.choices_from_frame(ROWS)
    with pytest.raises(InputError, match="instructions must not contain <<"):
        xl.write_psych201(choices, tmp_path / "p.jsonl", instructions="Press <<A>>.")
    with pytest.raises(InputError, match=r"expected a name ending in .jsonl"):
        xl.write_psych201(choices, tmp_path / "p.json")
    assert not list(tmp_path.iterdir())


def test_several_files_are_joined_with_the_data_set_as_a_condition(tmp_path: Path) -> None:
    ROWS.to_csv(tmp_path / "one.csv", index=False)
    longer = pd.concat([ROWS, ROWS.query("trial == 2").assign(trial=3)]).drop(columns="group")
    longer.assign(participant=longer.participant.replace("b", "c"), age=30).to_csv(tmp_path / "two.csv", index=False)
    task = {"arms": 3}
    joined = xl.read_choices([tmp_path / "one.csv", tmp_path / "two.csv"], task)
    parts = [xl.read_choices(tmp_path / f"{name}.csv", task) for name in ("one", "two")]
    assert joined.participants == ("one/a", "b", "two/a", "c")
    assert list(joined.conditions["dataset"]) == ["one"] * 4 + ["two"] * 4
    assert list(joined.conditions["group"]) == ["old", "old", "new", "new", "", "", "", ""]
    np.testing.assert_array_equal(joined.conditions["age"], [np.nan] * 4 + [30.0] * 4)
    for part, rows in zip(parts, (slice(0, 4), slice(4, 8)), strict=True):
        cut = joined.rows(rows)
        for name in ("arm", "reward", "observed", "scored", "present"):
            np.testing.assert_array_equal(getattr(cut, name), getattr(part, name))


def test_data_sets_that_do_not_go_together(tmp_path: Path) -> None:
    ROWS.to_csv(tmp_path / "one.csv", index=False)
    (ROWS.assign(arm=0)).to_csv(tmp_path / "two.csv", index=False)
    with pytest.raises(InputError, match=r"differ in the numbers of arms: 3 and 1"):
        xl.read_choices([tmp_path / "one.csv", tmp_path / "two.csv"])
    with pytest.raises(InputError, match="one of them twice"):
        xl.read_choices([tmp_path / "one.csv", tmp_path / "one.csv"])
    with pytest.raises(InputError, match="at least one file"):
        xl.read_choices([])
    (tmp_path / "two.csv").write_text("participant,trial\n1,1\n")
    with pytest.raises(InputError, match=r"two.csv: expected a column 'reward'"):
        xl.read_choices([tmp_path / "one.csv", tmp_path / "two.csv"])
    with pytest.raises(InputError, match="sets must"):
        xl.join_choices({"a": 3})  # type: ignore[dict-item]
    both = xl.choices_from_frame(ROWS.assign(dataset="x"))
    with pytest.raises(InputError, match="already: rename it"):
        xl.join_choices({"a": both, "b": both})


def test_gaps_are_missed_trials_if_asked(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "participant": ["a"] * 3 + ["b"] * 3,
            "trial": [1, 3, 6, 2, 3, 4],
            "arm": [0, 1, 0, 1, 1, 0],
            "reward": [1.0, 2, 3, 4, 5, 6],
            "age": [30] * 3 + [40] * 3,
        }
    )
    file = tmp_path / "choices.csv"
    frame.to_csv(file, index=False)
    with pytest.raises(InputError, match='or set gaps = "missed"'):
        xl.read_choices(file)
    read = xl.read_choices(file, gaps="missed")
    np.testing.assert_array_equal(read.arm, [[0, -1, 1, -1, -1, 0], [-1, 1, 1, 0, -1, -1]])
    np.testing.assert_array_equal(read.present.sum(1), [6, 4])
    np.testing.assert_array_equal(read.scored.sum(1), [3, 3])
    assert list(read.conditions["age"]) == [30, 40]
    (tmp_path / "choices.toml").write_text('[task]\narms = 2\ngaps = "missed"\n')
    same(xl.read_choices(file), read)
    with pytest.raises(InputError, match="gaps"):
        xl.read_choices(file, gaps="filled")  # type: ignore[arg-type]


def test_a_notebook_shows_a_table() -> None:
    choices = xl.choices_from_frame(ROWS.assign(group="<b>"))
    shown = choices._repr_html_()
    assert "2 participants, 4 blocks, 8 trials" in shown
    assert "<table" in shown
    assert "<b>" not in shown.split("<table")[1].replace("&lt;b&gt;", "")


def with_everything(shape: tuple[int, int] = (4, 2)) -> xl.Choices:
    """Choices in which no field is empty."""
    plain = xl.choices_from_frame(ROWS)
    advice = no_advice(shape)
    advice.arm[0, 1], advice.shown[0, 1], advice.followed[0, 1], advice.reason[0, 1] = 2, True, True, "best"
    available = np.ones((*shape, 3), bool)
    available[1, 0, 0] = False
    missed = np.zeros(shape, bool)
    missed[2, 1] = True
    full = {"advice": advice, "available": available, "missed": missed, "scored": plain.scored & ~missed}
    full |= {"means": np.arange(12.0).reshape(4, 3), "start": np.array([0, 1, 2, -1]), "note": "noted", "source": "here"}
    return replace(plain, **full)


NOT_OF_ROWS = ("layout", "participants", "participant", "conditions", "exclusions", "table", "source", "note", "players")


@pytest.mark.parametrize("field", [each.name for each in fields(xl.Choices) if each.name not in NOT_OF_ROWS])
@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
def test_a_data_set_loses_no_field_when_it_is_joined(field: str, first: bool) -> None:
    full = with_everything()
    assert getattr(full, field) is not None, f"give {field} a value in with_everything()"
    longer = pd.concat([ROWS, ROWS.query("trial == 2").assign(trial=3)])
    plain = replace(xl.choices_from_frame(longer), means=np.zeros((4, 3)))
    joined = xl.join_choices({"a": full, "b": plain} if first else {"b": plain, "a": full})
    again = joined.rows(slice(0, 4) if first else slice(4, 8))
    both = (getattr(again, field), getattr(full, field))
    for one, other in zip(*(value if field == "advice" else [value] for value in both), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("field", ["advice", "available", "missed", "start"])
def test_what_no_data_set_has_none_gets_by_joining(field: str) -> None:
    plain = xl.choices_from_frame(ROWS)
    assert getattr(xl.join_choices({"a": plain, "b": plain}), field) is None


def transcript(tmp_path: Path, *texts: str, **more: object) -> Path:
    lines = [{"text": text, "experiment": "x", "participant": i, **more} for i, text in enumerate(texts)]
    (tmp_path / "prompts.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return tmp_path / "prompts.jsonl"


@pytest.mark.parametrize(
    ("after", "reward"),
    [
        (" and get 1,250 points.", 1250.0),
        (" and get .5 points.", 0.5),
        (" and lose 5 points.", -5.0),
        (" and get \u22124 points.", -4.0),
        (" and get -4.25 points.", -4.25),
        (" and get 1e-3 points.", 0.001),
        (". You receive 12,345,678 points.", 12345678.0),
    ],
)
def test_rewards_of_a_transcript_are_read_as_written(tmp_path: Path, after: str, reward: float) -> None:
    text = f"Choose A or B.\n\nGame 1:\nYou press <<A>>{after}\nYou press <<B>> and get 1 point.\n"
    assert xl.read_choices(transcript(tmp_path, text)).reward.tolist() == [[reward, 1.0]]


@pytest.mark.parametrize("after", [" in trial 3 and get 7 points.", " and win 100 and lose 250.", ". Alien A wins."])
def test_a_reward_that_is_not_clear_is_refused(tmp_path: Path, after: str) -> None:
    text = f"Game 1:\nYou press <<A>>{after}\nYou press <<B>> and get 1 point.\n"
    with pytest.raises(InputError, match=r"line 1: expected one number, the reward, after '<<A>>', got"):
        xl.read_choices(transcript(tmp_path, text))


def test_fields_of_a_person_do_not_replace_what_they_did(tmp_path: Path) -> None:
    text = "Game 1:\nYou press <<A>> and get 3 points.\nYou press <<B>> and get 4 points.\n"
    assert xl.read_choices(transcript(tmp_path, text, reward=50, trial=9, arm="A")).reward.tolist() == [[3, 4]]


def test_instructions_are_no_missed_trial_and_arms_keep_their_numbers(tmp_path: Path) -> None:
    told = "Press A or B. If you do not press a key in time, you earn nothing.\n"
    both = told + "You press <<A>> and get 1 point.\nYou press <<B>> and get 2 points.\nYou did not respond in time.\n"
    only = told + "You press <<B>> and get 5 points.\nYou press <<B>> and get 6 points.\n"
    read = xl.read_choices(transcript(tmp_path, both, only))
    assert read.arm.tolist() == [[0, 1, -1], [1, 1, -1]]


@pytest.mark.parametrize("names", [["A", "B", "C"], ["left door", "right door", "no door"], ["1", "2", "3"]])
def test_named_arms_with_missed_and_forced_trials_go_there_and_back(tmp_path: Path, names: list[str]) -> None:
    frame = ROWS.assign(arm=np.array(names, object)[ROWS.arm], missed=[0] * 7 + [1], forced=[1] + [0] * 7)
    frame.loc[7, ["arm", "reward"]] = [None, np.nan]
    choices = xl.choices_from_frame(frame, {"arms": names})
    same(xl.read_choices(xl.write_psych201(choices, tmp_path / "prompts.jsonl")), choices)


def test_people_of_jspsych_are_told_apart_whatever_their_objects_are_called(tmp_path: Path) -> None:
    people = [[{"id": "welcome"}, *({"arm": arm, "reward": arm + n} for arm in (0, 1, 1))] for n in range(2)]
    (tmp_path / "data.json").write_text(json.dumps(people))
    assert xl.read_choices(tmp_path / "data.json").participants == ("data 1", "data 2")


def test_a_missed_trial_of_jspsych_stays(tmp_path: Path) -> None:
    trials = [{"arm": 0, "reward": 1}, {"arm": None, "reward": None}, {"arm": 1, "reward": 2}]
    (tmp_path / "data.json").write_text(json.dumps(trials))
    read = xl.read_choices(tmp_path / "data.json")
    assert read.arm.tolist() == [[0, -1, 1]]


@pytest.mark.parametrize("order", [("with", "without"), ("without", "with")])
def test_data_sets_with_and_without_advice_are_counted_together(tmp_path: Path, order: tuple[str, str]) -> None:
    ROWS.to_csv(tmp_path / "without.csv", index=False)
    ROWS.assign(advised=ROWS.arm, advice_shown=1).to_csv(tmp_path / "with.csv", index=False)
    report = xl.check_choices([tmp_path / f"{name}.csv" for name in order], {"arms": 3})
    assert report.choices is not None, report.message()
    assert report.counts["trials"] == 16
    assert report.choices.advice is not None
    assert report.choices.advice.shown.sum() == 8


def test_copies_of_choices_have_the_advice_of_their_own_rows() -> None:
    copies = repeated(with_everything(), np.array([0, 1, 0, 1]))
    assert copies.advice is not None
    assert copies.advice.shown.shape == copies.arm.shape
    assert copies.rows([copies.n_rows - 1]).n_rows == 1
