-- What the steps of a job counted. The cursor keeps the form that replicas of the previous release read.
ALTER TABLE jobs ADD COLUMN tally jsonb;
