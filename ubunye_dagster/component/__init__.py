"""Gates, checks and sensors from YAML: a component of Dagster."""
