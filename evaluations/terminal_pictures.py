"""Pictures of what commands print, for docs/deployment.md: real commands, on a new study, in a window of Chromium.

python -m evaluations.terminal_pictures
"""

from __future__ import annotations

import html
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
from tests.support.study.browser import chromium  # noqa: E402

FOLDER = ROOT / "docs" / "deployment"
COLUMNS = 110
COMMANDS = {"check": "study check explore", "deploy": "study deploy explore --domain study.your-lab.org --out deploy"}
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: #1d2430; }}
pre {{ margin: 0; padding: 18px 22px; font: 15px/1.45 "DejaVu Sans Mono", monospace; color: #e6e9ef; width: max-content; }}
b {{ color: #9fd0ff; font-weight: normal; }}
</style><pre><b>$ explorelab {command}</b>\n{printed}</pre>"""


def printed(command: str, folder: Path) -> str:
    """What the command prints on a terminal of this width."""
    words = [str(Path(sys.executable).with_name("explorelab")), *command.split()]
    env = {**os.environ, "COLUMNS": str(COLUMNS)}
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False).stdout.rstrip()


def main() -> int:
    """Take the pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name)
        printed("study init explore --language en,de", folder)
        page = browser.new_page(device_scale_factor=1.5)
        for picture, command in COMMANDS.items():
            page.set_content(PAGE.format(command=command, printed=html.escape(printed(command, folder))))
            page.locator("pre").screenshot(path=FOLDER / f"{picture}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
