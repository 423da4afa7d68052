"""A function whose every call is recorded: plain, async, or a generator of either kind.

A function that only returns a coroutine or a generator (one that another decorator wraps, an
object that is called) has done nothing yet: its recording ends when that has run. A call that is
skipped, for another run holds its batch, returns None.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ubunye_core.questions.guard import RunSkippedError
from ubunye_core.recording.run import Run

if TYPE_CHECKING:
    from ubunye_core.recording.record import Recording

Function = TypeVar("Function", bound=Callable[..., Any])
PARAMETER = "run"


def recorded_calls(
    function: Function, recording_of: Callable[[Callable[..., Any], Any, Any], Recording]
) -> Function:
    """The function, with a recording around each call."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    place = next((at for at, each in enumerate(parameters) if each.name == PARAMETER), None)
    by_position = place is not None and parameters[place].kind is not inspect.Parameter.KEYWORD_ONLY

    def with_run(run: Run, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The arguments, with the run where the function has a place for it."""
        if place is None or PARAMETER in kwargs:
            return args, kwargs
        if by_position and len(args) > place:
            return (*args[:place], run, *args[place:]), kwargs
        return args, {PARAMETER: run, **kwargs}

    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        with contextlib.ExitStack() as recording:
            run = _begun(recording, recording_of(function, args, kwargs))
            if run is None:
                return None
            args, kwargs = with_run(run, args, kwargs)
            result = function(*args, **kwargs)
            to_the_end = _to_the_end_of(result)
            return result if to_the_end is None else to_the_end(recording.pop_all(), result)

    @functools.wraps(function)
    def generator(*args: Any, **kwargs: Any) -> Any:
        with contextlib.ExitStack() as recording:
            run = _begun(recording, recording_of(function, args, kwargs))
            if run is None:
                return None
            args, kwargs = with_run(run, args, kwargs)
            return (yield from function(*args, **kwargs))

    @functools.wraps(function)
    async def coroutine(*args: Any, **kwargs: Any) -> Any:
        with contextlib.ExitStack() as recording:
            run = _begun(recording, recording_of(function, args, kwargs))
            if run is None:
                return None
            args, kwargs = with_run(run, args, kwargs)
            return await function(*args, **kwargs)

    @functools.wraps(function)
    async def async_generator(*args: Any, **kwargs: Any) -> Any:
        with contextlib.ExitStack() as recording:
            run = _begun(recording, recording_of(function, args, kwargs))
            if run is None:
                return
            args, kwargs = with_run(run, args, kwargs)
            async with contextlib.aclosing(function(*args, **kwargs)) as items:
                async for item in items:
                    yield item

    wrapper: Any = plain
    if inspect.iscoroutinefunction(function):
        wrapper = coroutine
    elif inspect.isasyncgenfunction(function):
        wrapper = async_generator
    elif inspect.isgeneratorfunction(function):
        wrapper = generator
    if place is not None:  # who calls the function gives everything but the run
        wrapper.__signature__ = signature.replace(
            parameters=[each for each in parameters if each.name != PARAMETER]
        )
    return cast("Function", wrapper)


def _begun(stack: contextlib.ExitStack, recording: Recording) -> Run | None:
    """The run that begins here, and ends with the stack; None where it is skipped."""
    try:
        return stack.enter_context(recording)
    except RunSkippedError:
        return None


def _to_the_end_of(result: object) -> Callable[[contextlib.ExitStack, Any], Any] | None:
    """What does the work that a call has only prepared, and then ends its recording."""
    if inspect.isgenerator(result):
        return _generated
    if inspect.isasyncgen(result):
        return _generated_async
    return _awaited if inspect.iscoroutine(result) else None


def _generated(recording: contextlib.ExitStack, items: Any) -> Any:
    with recording:
        return (yield from items)


async def _generated_async(recording: contextlib.ExitStack, items: Any) -> Any:
    with recording:
        async with contextlib.aclosing(items):
            async for item in items:
                yield item


async def _awaited(recording: contextlib.ExitStack, work: Any) -> Any:
    with recording:
        return await work
