"""The processes of the platform: UI, daemon, code server, workers; started, watched, ended."""
