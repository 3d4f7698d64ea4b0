-- The verdict on the evidence of a run, as it was given. NULL in runs of before, and in answers in prose, which hold
-- theirs among their other parts.
ALTER TABLE answer_runs ADD COLUMN status text, ADD COLUMN confidence real;
