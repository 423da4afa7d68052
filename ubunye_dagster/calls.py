"""A function of Dagster with something around its every call: plain, async, or a generator.

Dagster reads a function's signature to know what to give it, so the wrapper's signature is the
function's own, plus the resource that the wrapper needs, less what the wrapper gives.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, aclosing, contextmanager
from typing import Any, TypeVar, cast

from ubunye_core import ConfigError, ReceiptStore
from ubunye_dagster.compat.context import CONTEXT_NAMES
from ubunye_dagster.resource import ReceiptStoreResource, check_store_url, store_named

Function = TypeVar("Function", bound=Callable[..., Any])
_DECORATORS = "__receipt_decorators__"
Around = Callable[[Any, ReceiptStore], AbstractContextManager[Mapping[str, object]]]


def around_calls(
    function: Function,
    around: Around,
    *,
    by: str,
    resource_key: str,
    store: str | None,
    gives: str | None = None,
) -> Function:
    """The function, each call inside of ``around(context, store)``.

    Args:
        function: What Dagster's own decorator will be given.
        around: Enters and leaves a call; what it gives is passed to the function by name.
        by: The decorator's name, for errors.
        resource_key: The resource that holds the store.
        store: The URL of a store, instead of a resource.
        gives: The name of the one argument that ``around`` gives, if the function has it.
    """
    _check(function, by)
    if store is not None:
        check_store_url(store)
    inside = decorators_of(function)
    if "recorded" in inside:
        raise ConfigError(
            f"@{by} stands above @recorded on {function.__qualname__}.",
            hint="The order is @asset, @recorded, @gated; and one @recorded.",
        )
    signature = inspect.signature(function)
    needs_resource = store is None
    passes_resource = resource_key in signature.parameters
    gives = gives if gives in signature.parameters else None

    def entered(
        args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> AbstractContextManager[Mapping[str, object]]:
        context = args[0] if args else kwargs[next(iter(signature.parameters))]
        resource = kwargs.get(resource_key) if needs_resource else None
        if needs_resource and not passes_resource:
            kwargs.pop(resource_key, None)
        if resource is None:
            return around(context, store_named(store))
        return around(context, resource.get_store())

    def with_given(given: Mapping[str, object], kwargs: dict[str, Any]) -> dict[str, Any]:
        return kwargs if gives is None else {**kwargs, gives: given[gives]}

    wrapper = _wrapped(function, entered, with_given)
    adds = resource_key if needs_resource and not passes_resource else None
    setattr(wrapper, _DECORATORS, (by, *inside))
    _show(wrapper, signature, adds=adds, hides=gives)
    return cast("Function", wrapper)


def with_store(function: Function, *, by: str, resource_key: str, store: str | None) -> Function:
    """The function, which is given the store as ``opened``, and Dagster's resource no more."""

    @contextmanager
    def around(context: Any, opened: ReceiptStore) -> Iterator[Mapping[str, object]]:
        yield {"opened": opened}

    return around_calls(
        function, around, by=by, resource_key=resource_key, store=store, gives="opened"
    )


def _wrapped(
    function: Callable[..., Any],
    entered: Callable[[Any, dict[str, Any]], AbstractContextManager[Mapping[str, object]]],
    with_given: Callable[[Mapping[str, object], dict[str, Any]], dict[str, Any]],
) -> Any:
    """A function of the same kind: each call is entered, and passes on what that gives."""

    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        with entered(args, kwargs) as given:
            return function(*args, **with_given(given, kwargs))

    @functools.wraps(function)
    def generator(*args: Any, **kwargs: Any) -> Any:
        with entered(args, kwargs) as given:
            return (yield from function(*args, **with_given(given, kwargs)))

    @functools.wraps(function)
    async def coroutine(*args: Any, **kwargs: Any) -> Any:
        with entered(args, kwargs) as given:
            return await function(*args, **with_given(given, kwargs))

    @functools.wraps(function)
    async def async_generator(*args: Any, **kwargs: Any) -> Any:
        with entered(args, kwargs) as given:
            async with aclosing(function(*args, **with_given(given, kwargs))) as results:
                async for each in results:
                    yield each

    if inspect.iscoroutinefunction(function):
        return coroutine
    if inspect.isasyncgenfunction(function):
        return async_generator
    return generator if inspect.isgeneratorfunction(function) else plain


def decorators_of(function: Any) -> tuple[str, ...]:
    """Which of this library's decorators a function has, the outermost first."""
    return getattr(function, _DECORATORS, ())


def _check(function: object, by: str) -> None:
    if not inspect.isfunction(function):
        raise ConfigError(
            f"@{by} was given no function: what is below it is of type {type(function).__name__}.",
            hint=f"It goes below Dagster's own decorator: @asset first, then @{by}.",
        )
    first = next(iter(inspect.signature(function).parameters), None)
    if first not in CONTEXT_NAMES:
        raise ConfigError(
            f"@{by} needs Dagster's context, and {function.__qualname__} does not ask for it.",
            hint="Let its first parameter be 'context'.",
        )


def _show(
    wrapper: Any, signature: inspect.Signature, *, adds: str | None, hides: str | None
) -> None:
    """Let Dagster see this signature.

    Where a module has its annotations as text, they are made real here: Dagster would look for
    their names in the wrapper's module.
    """
    names = inspect.unwrap(wrapper).__globals__
    parameters = [
        each.replace(annotation=_real(each.annotation, names))
        for name, each in signature.parameters.items()
        if name != hides
    ]
    if adds is not None:
        rest = bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD
        parameters.insert(
            len(parameters) - rest,
            inspect.Parameter(
                adds, inspect.Parameter.KEYWORD_ONLY, annotation=ReceiptStoreResource
            ),
        )
    returns = _real(signature.return_annotation, names)
    wrapper.__signature__ = signature.replace(parameters=parameters, return_annotation=returns)
    wrapper.__annotations__ = {
        each.name: each.annotation
        for each in parameters
        if each.annotation is not inspect.Parameter.empty
    }
    if returns is not inspect.Signature.empty:
        wrapper.__annotations__["return"] = returns


def _real(annotation: Any, names: dict[str, Any]) -> Any:
    """What an annotation that is text stands for; the text where that cannot be told."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, names)
    except Exception:  # Dagster says in its own words which name it does not know
        return annotation
