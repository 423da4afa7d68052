"""The pages about the command line: their commands run, and every option has its line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from ubunye_core.cli.app import commands

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ("command-line.md", "look-after-a-store.md")
REFERENCE = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_the_page_run_as_they_stand(folder, page):
    import pyarrow as pa
    import pyarrow.parquet

    pyarrow.parquet.write_table(
        pa.table({"id": [1, 2], "name": ["ann", "bob"]}), folder / "adults.parquet"
    )
    script, expected = ["unset UBUNYE_STORE"], []
    for language, title, text in BLOCK.findall(
        (DOCS / "how-to" / page).read_text(encoding="utf-8")
    ):
        if title:
            (folder / title).write_text(text)
        if language != "console":
            continue
        for line in text.splitlines():
            assert line.startswith("$ "), line
            command = line.removeprefix("$ ")
            code = re.search(r"# exit (\d+)$", command)
            expected.append((command, int(code[1]) if code else 0))
            script += [command, 'echo "$?" >> codes']
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    codes = [int(code) for code in (folder / "codes").read_text().split()]
    ran = [(command, code) for (command, _), code in zip(expected, codes, strict=True)]
    assert ran == expected, done.stderr
    assert len(ran) > 5


def section(name: str) -> str:
    return re.split(r"\n##", REFERENCE.split(f"# {name}\n", 1)[1], maxsplit=1)[0]


EVERY = {
    f"{name} {inner}".strip(): command
    for name, outer in commands.commands.items()
    for inner, command in (
        outer.commands if isinstance(outer, click.Group) else {"": outer}
    ).items()
}


@pytest.mark.parametrize("name", sorted(EVERY))
def test_every_option_of_a_command_has_its_line_in_the_reference(name):
    text = section(name)
    given = {
        option
        for param in EVERY[name].params
        if isinstance(param, click.Option) and not param.hidden
        for option in (*param.opts, *param.secondary_opts)
    }
    told = {
        word
        for line in text.splitlines()
        if line.startswith("| `-")
        for word in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", line.split(" | ")[0])
    }
    assert told == given
