-- Answer runs whose process is gone are found among all others when the next one begins.

CREATE INDEX answer_runs_running ON answer_runs (started_at) WHERE state = 'running';
