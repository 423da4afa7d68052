"""The page in Airflow's own web server: behind its login, and by its rights to DAGs."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from tests.airflow.conftest import T0, a_receipt
from ubunye_airflow.page import PREFIX
from ubunye_core import Orchestrator, ReceiptStore, Status, Step, open_store

pytestmark = pytest.mark.slow

SECRET = "pay/secret/bonus"
BOTH = "pay/monthly/both"
PAGES = (
    "/",
    "/health.json",
    "/static/style.css",
    "/static/icon.svg",
    "/task/pay/monthly/calc",
    "/task/pay/monthly/calc/windows",
    "/task/pay/monthly/calc/run/calc-1",
    "/task/pay/monthly/calc/compare?a=calc-1&b=calc-2",
    "/nothing",
)


def by(dag_id: str, task_id: str = "t") -> Orchestrator:
    ids = {"dag_id": dag_id, "run_id": "r", "task_id": task_id, "map_index": "-1"}
    return Orchestrator(name="airflow", ids=ids, attempt=1, max_attempts=2)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ReceiptStore:
    """Receipts of two DAGs, of a task that both have run, and of other orchestrators."""
    place = tmp_path_factory.mktemp("receipts")
    found = open_store(str(place))
    for receipt in (
        a_receipt("calc-1", orchestrator=by("pay_calc", "one")),
        a_receipt("calc-2", orchestrator=by("pay_calc", "two")),
        a_receipt(
            "veiled-1",
            task=SECRET,
            orchestrator=by("bonus"),
            outputs=(Step(name="veiled-output", direction="output", row_count=7),),
        ),
        a_receipt("both-1", task=BOTH, orchestrator=by("pay_calc")),
        a_receipt(
            "veiled-2",
            Status.ERROR,
            task=BOTH,
            orchestrator=by("bonus"),
            started_at=T0.replace(hour=9),
            ended_at=T0.replace(hour=10),
            error="ValueError: veiled trouble",
        ),
        a_receipt("dagster-1", task="web/dagster/job", orchestrator=Orchestrator(name="dagster")),
        a_receipt("shell-1", task="web/shell/job"),
    ):
        found.save(receipt)
    return found


Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def server(airflow_db: None, store: ReceiptStore) -> Iterator[Any]:
    """Airflow's API server as it is, without a socket."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW__CORE__AUTH_MANAGER", "tests.airflow.rights.RightsByDag")
        patch.setenv("_AIRFLOW_PROCESS_CONTEXT", "server")  # as airflow.api_fastapi.main says
        patch.setenv("AIRFLOW__UBUNYE_RECEIPTS__STORE", store.url)
        from airflow.api_fastapi.app import create_app, purge_cached_app

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from starlette.testclient import TestClient

            app = create_app(apps="core")
        yield TestClient(app, "http://localhost", follow_redirects=False)
        purge_cached_app()


@pytest.fixture
def ask(server: Any) -> Ask:
    """Ask for a page as a user; None is not logged in."""
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser

    def get(path: str, user: str | None, **how: Any) -> Any:
        headers = {}
        if user is not None:
            known = SimpleAuthManagerUser(username=user, role="viewer")
            headers = {"Cookie": f"_token={get_auth_manager().generate_jwt(known)}"}
        return server.get(f"{PREFIX}{path}", headers={**headers, **how})

    return get


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_shown_without_a_login(ask: Ask, path: str) -> None:
    answer = ask(path, None)
    assert answer.status_code == 401
    before, _, after = answer.text.partition('href="')
    assert "calc" not in before + after.partition('"')[2]
    assert "Log in to Airflow" in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_token_that_is_none_is_refused(ask: Ask) -> None:
    assert ask("/", None, Cookie="_token=nonsense").status_code in (401, 403)
    assert ask("/", None, Authorization="Bearer nonsense").status_code in (401, 403)


def test_who_is_logged_in_sees_the_pages_where_airflow_mounts_them(ask: Ask) -> None:
    for path in PAGES[:-1]:
        answer = ask(path, "nina")
        assert answer.status_code == 200, path
        assert "href=" not in answer.text or f'href="{PREFIX}/' in answer.text
    assert ask("/nothing", "nina").status_code == 404
    assert "frame-ancestors 'self'" in ask("/", "nina").headers["content-security-policy"]


def test_the_pages_are_only_for_reading(server: Any, ask: Ask) -> None:
    assert ask("/", "nina").status_code == 200
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert server.request(method, f"{PREFIX}/").status_code in (401, 405)


def test_who_may_not_read_a_dag_sees_its_receipts_nowhere(ask: Ask) -> None:
    for path in ("/", "/health.json", f"/task/{BOTH}", f"/task/{BOTH}?status=error"):
        answer = ask(path, "nina")
        assert answer.status_code == 200, path
        assert "veiled" not in answer.text
        assert "secret" not in answer.text
    for path in (
        f"/task/{SECRET}",
        f"/task/{SECRET}/windows?cron=0+2+*+*+*",
        f"/task/{SECRET}/run/veiled-1",
        f"/task/{BOTH}/run/veiled-2",
        f"/task/{BOTH}/compare?a=both-1&b=veiled-2",
        f"/task/{SECRET}/attempt?attempt=1&id.dag_id=bonus&id.run_id=r&id.task_id=t&id.map_index=-1",
    ):
        assert ask(path, "nina").status_code == 404, path
        assert ask(path, "omar").status_code in (200, 303), path
    told = ask("/health.json", "nina").json()["tasks"]
    assert [(each["task"], each["verdict"]) for each in told] == [
        (BOTH, "PASS"),
        ("pay/monthly/calc", "PASS"),
    ]
    assert "veiled" in ask(f"/task/{BOTH}", "omar").text


def test_who_may_read_no_dag_sees_none(ask: Ask) -> None:
    answer = ask("/", "zoe")
    assert answer.status_code == 200
    assert "There are no receipts that you may read." in answer.text
    assert "pay/" not in answer.text.replace('placeholder="pay/*/*"', "")


def test_receipts_of_others_are_shown_only_where_the_configuration_says_so(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "web/" not in ask("/", "omar").text
    assert ask("/task/web/shell/job/run/shell-1", "omar").status_code == 404
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__SHOW_OTHER_ORCHESTRATORS", "True")
    assert "web/dagster/job" in ask("/", "omar").text
    assert ask("/task/web/shell/job/run/shell-1", "zoe").status_code == 200
    assert "pay/monthly/calc" not in ask("/", "zoe").text
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__SHOW_OTHER_ORCHESTRATORS", "perhaps")
    wrong = ask("/", "omar").text
    assert "Say true or false" in wrong
    assert "web/" not in wrong


def test_the_store_of_a_connection_comes_before_that_of_the_configuration(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = open_store(str(tmp_path))
    other.save(a_receipt("other-1", task="pay/other/task", orchestrator=by("pay_calc")))
    monkeypatch.setenv(
        "AIRFLOW_CONN_UBUNYE_RECEIPTS_DEFAULT",
        f'{{"conn_type": "ubunye_receipts", "host": "{tmp_path.as_uri()}"}}',
    )
    text = ask("/", "nina").text
    assert "pay/other/task" in text
    assert "pay/monthly/calc" not in text


def test_a_store_that_is_not_named_or_is_down_is_told_in_words(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__STORE", str(tmp_path / "gone"))
    down = ask("/", "nina")
    assert (down.status_code, "The store cannot answer" in down.text) == (503, True)
    monkeypatch.delenv("AIRFLOW__UBUNYE_RECEIPTS__STORE")
    unnamed = ask("/", "nina")
    assert (unnamed.status_code, "No receipt store is named" in unnamed.text) == (500, True)


def test_rights_that_cannot_be_told_show_nothing(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.airflow.rights import RightsByDag

    def broken(*_: Any, **__: Any) -> bool:
        raise ConnectionError("the auth manager is away")

    monkeypatch.setattr(RightsByDag, "is_authorized_dag", broken)
    answer = ask("/", "nina")
    assert answer.status_code == 500
    assert "pay/monthly" not in answer.text


def test_airflow_shows_the_page_in_its_navigation(airflow_db: None) -> None:
    from airflow import plugins_manager

    views, _ = plugins_manager._get_ui_plugins()
    (ours,) = (each for each in views if each["url_route"] == "receipts")
    assert ours["href"] == f"{PREFIX.lstrip('/')}/"  # relative: below Airflow's own path
    assert (ours["name"], ours["destination"], ours["category"]) == ("Receipts", "nav", "browse")
    info = plugins_manager.get_plugin_info(["name", "fastapi_apps"])
    assert any(each["name"] == "ubunye_receipts_page" for each in info)


def test_the_plugin_is_found_by_its_entry_point_alone() -> None:
    found = [each for each in entry_points(group="airflow.plugins") if "page" in each.value]
    assert [each.load().name for each in found] == ["ubunye_receipts_page"]


def test_a_worker_that_loads_the_plugin_imports_two_small_modules() -> None:
    program = (
        "import sys, airflow.sdk.plugins_manager; before = set(sys.modules);"
        "import ubunye_airflow.page.plugin as p; p.ReceiptsPagePlugin();"
        "new = set(sys.modules) - before; print(sorted(new));"
        "web = {'fastapi', 'starlette', 'jinja2', 'airflow.api_fastapi', 'ubunye_core'};"
        "print(sorted(web & new))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    lines = done.stdout.splitlines()[-2:]
    assert lines == ["['ubunye_airflow.page', 'ubunye_airflow.page.plugin']", "[]"], done.stderr
