-- Time (ms since 1970, host clock) of the last proof of each start: an older proof is a recorded one.
ALTER TABLE agent_boots ADD COLUMN proof_at bigint NOT NULL DEFAULT 0;
