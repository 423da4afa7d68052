"""From values to HTML: whatever a receipt holds is text there, and never markup."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ubunye_core.masking import masked_text
from ubunye_core.questions import telling
from ubunye_core.times import to_the_second
from ubunye_core.web import shown
from ubunye_core.web.links import Links


def render(template: str, links: Links, values: Mapping[str, object]) -> str:
    """The HTML of a page."""
    return _ENVIRONMENT.get_template(template).render(links=links, **values)


def clean(value: object) -> object:
    """Text without control characters, nor those that turn the direction of what follows."""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "".join(
        char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in value
    )


def _moment(value: datetime | None) -> str:
    return "-" if value is None else to_the_second(value).replace("T", " ").removesuffix("Z")


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=clean,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters |= {
    "ago": shown.ago,
    "brief": shown.brief,
    "masked": masked_text,
    "moment": _moment,
    "rows_of": shown.rows_of,
    "started_by": telling.started_by,
    "took": telling.took,
}
