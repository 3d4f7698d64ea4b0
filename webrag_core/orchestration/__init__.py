"""The loop: retrieve, judge, follow links or stop."""
