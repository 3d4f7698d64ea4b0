-- The verdict on the evidence of a run, as it was given. NULL in runs of before, and in answers in prose, which hold
-- theirs among their other parts.
ALTER TABLE answer_runs ADD COLUMN IF NOT EXISTS status text, ADD COLUMN IF NOT EXISTS confidence real;
