"""The names under which this library leaves word in Dagster: tags of runs, keys of metadata."""

TASK, RECEIPT, STATUS = "ubunye/task", "ubunye/receipt", "ubunye/status"
"""In the metadata of an event: by these three it is known for the report of a receipt. In the tags
of a run: the task it is to do, and the receipt that let a sensor launch it."""
UPSTREAM, WINDOW = "ubunye/upstream", "ubunye/window"
"""The task whose success launched a run; the window that a run is to catch up."""
REASON = "ubunye/reason"
"""Why somebody, or a sensor, launched a run."""
USECASE, PACKAGE = "ubunye/usecase", "ubunye/package"
"""The first two segments of an asset's task."""
