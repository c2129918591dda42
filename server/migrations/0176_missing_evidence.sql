-- The evidence that the verdict on a fingerprint could not examine. An upgrade re-evaluates all fingerprints and fills it.
ALTER TABLE designs ADD COLUMN missing_evidence text[] NOT NULL DEFAULT '{}';
