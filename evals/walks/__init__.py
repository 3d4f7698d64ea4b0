"""Site runs: golden queries, runs of the loop on WARC snapshots, their logs, scores and replay."""
