"""The game in Firefox and in WebKit: compares the screen with what is stored. Chromium has its own tests.

    apt-get install firefox-esr webkit2gtk-driver xvfb
    pip install selenium marionette_driver
    python -m evaluations.browsers [firefox] [webkit] [--choices 60]

A browser that is not installed is named and skipped. The clock is measured on that many undisturbed choices of 1.5 s.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from explorelab.study.database import tables
from tests.support.study.browser import Study, dots, served
from tests.support.study.postgres import free_port

OPEN = "() => [...document.querySelectorAll('.square:not([aria-disabled=true])')].map(each => Number(each.dataset.square))"
SAID = "() => document.querySelector('%s').innerText"
STAGE = "() => document.body?.dataset.stage"
COUNTER = "() => Number(document.querySelector('#counter')?.textContent.match(/\\d+/)?.[0] ?? 0)"
ONLY_YELLOW, AS_KEPT, REPEATS = "a click moves the yellow dot alone", "dots and reward are what is kept", "no click repeats"


class MissingError(Exception):
    """Something is not installed; the message says what, in a sentence."""


def named(driver: Any, version: str, **more: Any) -> Any:
    """Either driver, with the same few names for what it does."""
    click = lambda what: driver.find_element("css selector", what).click()  # noqa: E731
    evaluate = lambda function: driver.execute_script(f"return ({function})()")  # noqa: E731
    return SimpleNamespace(driver=driver, version=version, click=click, evaluate=evaluate, **more)


def library(name: str) -> Any:
    """An optional module."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingError(f"It is driven by {name.split('.')[0]}, which is not installed (pip install).") from None


def started(stack: ExitStack, *command: str, **how: Any) -> None:
    """Run a program until the stack is closed."""
    process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how))
    stack.callback(process.terminate)


def firefox(folder: Path, stack: ExitStack) -> Any:
    """Firefox without a window, through its own socket for automation: Debian has no geckodriver."""
    program, port = shutil.which("firefox-esr") or shutil.which("firefox"), free_port()
    if not program:
        raise MissingError("Firefox is not installed (Debian: firefox-esr).")
    driver = library("marionette_driver.marionette").Marionette(port=port)
    (folder / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
    started(stack, program, "--headless", "--marionette", "--no-remote", "--profile", str(folder))
    driver.start_session()
    driver.set_window_rect(width=1280, height=900)
    version, switch = driver.session_capabilities["browserVersion"], driver.switch_to_window
    return named(driver, version, go=driver.navigate, opened=lambda: switch(driver.open("window")["handle"]), switch=switch)


def webkit(folder: Path, stack: ExitStack) -> Any:
    """WebKitGTK's small browser, on a screen that nobody sees."""
    webdriver, service = library("selenium.webdriver"), library("selenium.webdriver.webkitgtk.service")
    program, screen = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
    if not program or not screen:
        raise MissingError("WebKit is not installed (Debian: webkit2gtk-driver and xvfb).")
    told, tells = os.pipe()
    started(stack, screen, "-displayfd", str(tells), "-screen", "0", "1600x1200x24", pass_fds=[tells])
    os.environ["DISPLAY"] = f":{os.read(told, 16).decode().strip()}"
    driver = webdriver.WebKitGTK(options=webdriver.WebKitGTKOptions(), service=service.Service(program))
    stack.callback(driver.quit)
    driver.set_window_rect(0, 0, 1280, 900)
    version, switch = driver.capabilities["browserVersion"], driver.switch_to
    return named(driver, version, go=driver.get, opened=lambda: switch.new_window("window"), switch=switch.window)


def until(browser: Any, function: str, wanted: Any, seconds: float = 30) -> None:
    """Wait until the function returns the wanted value on the page."""
    end = time.monotonic() + seconds
    while browser.evaluate(function) != wanted:
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:.0f} s for {wanted}")
        time.sleep(0.03)


def begin(browser: Any, address: str) -> None:
    """Agree, read, and begin the first block."""
    browser.go(address)
    for name, button in (("consent", "#agree"), ("instructions", "#continue"), ("ready", "#start")):
        until(browser, STAGE, name)
        browser.click(button)
    until(browser, STAGE, "play")


def kept(study: Study) -> list[Any]:
    """The stored choices of the last person to arrive."""
    person = study.rows(tables.people)[-1].id
    return [row for row in study.choices() if row.person == person]


def play(browser: Any, study: Study, n_trials: int, held: dict[str, bool]) -> None:
    """Play a block by mouse, without a click at the second choice, and note which rules did not hold."""
    before = len(kept(study))
    for trial in range(n_trials - 1):
        blue, yellow = dots(browser)
        if trial != 1:
            choices = [square for square in browser.evaluate(OPEN) if square not in (blue, yellow)]
            yellow = choices[31 * trial % len(choices)]
            browser.click(f'.square[data-square="{yellow}"]')
            held[ONLY_YELLOW] &= dots(browser) == (blue, yellow)
        until(browser, COUNTER, trial + 2)
        row, reward = kept(study)[before + trial], browser.evaluate(SAID % "#reward")
        held[AS_KEPT] &= (dots(browser)[0], float(reward)) == (row.arm, row.reward)
        held[REPEATS] &= row.missed == (trial == 1) and (trial != 1 or dots(browser)[1] == yellow)
    until(browser, STAGE, "ready" if len(kept(study)) < 20 else "debriefing")


def checks(browser: Any, study: Study) -> dict[str, bool]:
    """A whole session by mouse, then a second window."""
    held = dict.fromkeys((ONLY_YELLOW, AS_KEPT, REPEATS), True)
    begin(browser, f"{study.url}/?PROLIFIC_PID=whole")
    for n_trials in (4, 4, 4, 5, 5):
        if browser.evaluate(STAGE) == "ready":
            browser.click("#start")
            until(browser, STAGE, "play")
        play(browser, study, n_trials, held)
    browser.click("#finish")
    until(browser, STAGE, "finished")
    code = browser.evaluate(SAID % "#completion-code")
    held["a whole session by mouse ends with the code"] = (code, len(kept(study))) == ("THANKS42", 22)
    again = f"{study.url}/?PROLIFIC_PID=twice"
    begin(browser, again)
    first = browser.driver.current_window_handle
    browser.opened()
    browser.go(again)
    until(browser, STAGE, "play")
    browser.click("#resume")
    until(browser, STAGE, "ready")
    held["a second window takes over and loses nothing"] = [row.trial for row in kept(study)] == [0, 1, 2, 3]
    browser.switch(first)
    until(browser, STAGE, "taken-over")
    held["the first window says so"] = "another" in browser.evaluate(SAID % "#main")
    return held


def clock(browser: Any, study: Study, n_choices: int) -> str:
    """How late choices were recorded after their time was up, as a line of the table."""
    begin(browser, f"{study.url}/?PROLIFIC_PID=clock")
    time.sleep(1.5 * n_choices)
    until(browser, STAGE, "ready", 0.5 * n_choices + 30)
    late = np.array([row.overrun_ms for row in kept(study)])
    return "".join(f"{number:9.1f}" for number in (len(late), np.median(late), np.quantile(late, 0.99), late.max()))


def main() -> int:
    """Try each browser and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("browsers", nargs="*", metavar="BROWSER", help="firefox, webkit; without a name both")
    parser.add_argument("--choices", type=int, default=60, help="how many choices the clock is measured on")
    given, kinds = parser.parse_args(), {"firefox": firefox, "webkit": webkit}
    table, fine = [f"\n{'late by, in ms':20}  choices   median     99 %     most"], True
    for name in [each for each in kinds if each in (given.browsers or kinds)]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, ExitStack() as stack:
            try:
                browser = kinds[name](Path(place), stack)
            except MissingError as missing:
                print(f"{name}: left out. {missing}")
                continue
            with served(Path(place) / "short", fast_ms=1500, slow_ms=1500, n_training=4, n_trials=5) as study:
                for what, holds in checks(browser, study).items():
                    print(f"{name}: {'ok' if holds else 'FAILED'}: {what}", flush=True)
                    fine &= holds
            with served(Path(place) / "clock", fast_ms=1500, n_training=given.choices) as study:
                table.append(f"{name} {browser.version}".ljust(20) + clock(browser, study, given.choices))
    print(*table, sep="\n")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
