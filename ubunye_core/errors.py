"""Every error raised on purpose. Each says what is wrong, and hints at the next step.

``ConfigError`` means that somebody has to fix something: it is raised by every part, always.
``StoreUnavailableError`` means that a store could not answer now: a question turns it into
``UNKNOWN``, a recorder into a warning.
"""

from __future__ import annotations

from collections.abc import Sequence


class UbunyeError(Exception):
    """Base of all errors of this library.

    Args:
        message: What is wrong, in one sentence.
        hint: What to try next; shown after the message.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message, self.hint = message, hint
        super().__init__(message if hint is None else f"{message} {hint}")


class ConfigError(UbunyeError, ValueError):
    """An argument, a file or a setting is wrong; trying again will not help."""


class InvalidNameError(ConfigError):
    """A task, run id or other identifier breaks the grammar."""

    def __init__(self, kind: str, text: object, *, hint: str) -> None:
        self.kind, self.text = kind, text
        shown = repr(text)
        super().__init__(
            f"{shown if len(shown) <= 80 else shown[:77] + '...'} is not a {kind}.", hint=hint
        )


class NoParenthesesError(ConfigError):
    """A decorator was given the function below it, where what it needs is to be named."""

    def __init__(self, function: object) -> None:
        self.function = function
        name = getattr(function, "__name__", type(function).__name__)
        super().__init__(
            f"The decorator of {name} is written without its parentheses, and names no task.",
            hint="Write them behind the decorator, with the task: ('pay/monthly/calc').",
        )


class UnknownStoreError(ConfigError):
    """No store is known for the scheme of a URL."""

    def __init__(self, scheme: str, known: Sequence[str]) -> None:
        self.scheme, self.known = scheme, tuple(known)
        super().__init__(
            f"No receipt store is known for '{scheme}://'.",
            hint=f"Use one of: {', '.join(f'{name}://' for name in self.known)}.",
        )


class StoreNotNamedError(ConfigError):
    """Nothing says which store to use."""

    def __init__(self) -> None:
        super().__init__(
            "No receipt store is named.",
            hint="Give a store URL as the argument (--store on the command line), in the "
            "scheduler's connection or resource, or in the environment variable UBUNYE_STORE.",
        )


class MissingExtraError(UbunyeError, ImportError):
    """An optional library is not installed."""

    def __init__(self, needs: str, extra: str) -> None:
        self.extra = extra
        super().__init__(needs, hint=f"pip install 'ubunye-receipts[{extra}]'")


class BadReceiptError(UbunyeError, ValueError):
    """A stored document is not a readable receipt."""

    def __init__(self, where: str, why: str) -> None:
        self.where, self.why = where, why
        super().__init__(f"{where} is not a readable receipt: {why}.")


class StoreUnavailableError(UbunyeError, OSError):
    """A store could not be read or written; trying again may help."""

    def __str__(self) -> str:  # OSError would show only its errno text
        return str(self.args[0])


class ReceiptNotFoundError(UbunyeError, LookupError):
    """The store holds no such run."""


class AmbiguousRunError(UbunyeError, LookupError):
    """The beginning of a run id fits several runs."""

    def __init__(
        self, prefix: str, run_ids: Sequence[str], *, hint: str = "Give the whole run id."
    ) -> None:
        self.prefix, self.run_ids = prefix, tuple(run_ids)
        super().__init__(
            f"'{prefix}' fits {len(self.run_ids)} runs: {', '.join(self.run_ids[:5])}"
            f"{f' and {len(self.run_ids) - 5} more' if len(self.run_ids) > 5 else ''}.",
            hint=hint,
        )


class ReceiptConflictError(UbunyeError, RuntimeError):
    """A run that has ended was given another end."""


class ClaimLostError(UbunyeError, RuntimeError):
    """The right to run was taken over by another run, or was given back."""
