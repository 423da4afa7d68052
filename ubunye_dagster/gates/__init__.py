"""What keeps a step from running: ``@gated``, jobs with their checks, and what slips past."""
