"""Judge recorded runs: oracle, regret, baselines, decision goldens, the gate."""
