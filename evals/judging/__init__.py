"""What a walk was worth: oracle, regret, baselines, decision goldens, the gate."""
