"""The platform: Dagster assets, jobs and resources over the core."""
