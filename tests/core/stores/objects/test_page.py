from __future__ import annotations

import json
import re
from pathlib import Path

from tests.core.stores.objects.servers import ROOT
from tests.pages import run_page
from ubunye_core.stores.objects.address import _OPTIONS

PAGE = ROOT / "docs" / "how-to" / "object-store.md"


def test_the_code_of_the_page_runs_and_prints_what_it_says(tmp_path: Path) -> None:
    assert run_page("how-to/object-store.md", tmp_path) == 1


def test_the_page_names_every_option_that_a_url_may_have() -> None:
    rows = re.findall(r"^\| `(s3|gs|az)` \| (.*?) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    told = {scheme: set(re.findall(r"`(\w+)`", options)) for scheme, options in rows}
    assert told == {scheme: set(options) for scheme, options in _OPTIONS.items()}


def test_the_lock_of_the_servers_holds_a_hash_for_each_and_no_addresses() -> None:
    text = (ROOT / "requirements" / "buckets" / "package-lock.json").read_text("utf-8")
    assert "://" not in text
    packages = json.loads(text)["packages"]
    wanted = json.loads((ROOT / "requirements" / "buckets" / "package.json").read_text("utf-8"))
    assert packages.pop("")["dependencies"] == wanted["dependencies"]
    assert packages
    assert all(each["integrity"].startswith("sha512-") for each in packages.values())
