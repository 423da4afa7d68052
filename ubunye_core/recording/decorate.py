"""A function whose every call is recorded: plain, async, or a generator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ubunye_core.recording.run import Run

if TYPE_CHECKING:
    from ubunye_core.recording.record import Recording

Function = TypeVar("Function", bound=Callable[..., Any])
PARAMETER = "run"


def recorded_calls(
    function: Function, recording_of: Callable[[Callable[..., Any], Any, Any], Recording]
) -> Function:
    """The function, with a recording around each call."""
    wants_run = PARAMETER in inspect.signature(function).parameters

    def given(run: Run, kwargs: dict[str, Any]) -> dict[str, Any]:
        return {PARAMETER: run, **kwargs} if wants_run else kwargs

    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        with recording_of(function, args, kwargs) as run:
            return function(*args, **given(run, kwargs))

    @functools.wraps(function)
    def generator(*args: Any, **kwargs: Any) -> Any:
        with recording_of(function, args, kwargs) as run:
            return (yield from function(*args, **given(run, kwargs)))

    @functools.wraps(function)
    async def coroutine(*args: Any, **kwargs: Any) -> Any:
        with recording_of(function, args, kwargs) as run:
            return await function(*args, **given(run, kwargs))

    if inspect.iscoroutinefunction(function):
        return cast("Function", coroutine)
    if inspect.isgeneratorfunction(function):
        return cast("Function", generator)
    return cast("Function", plain)
