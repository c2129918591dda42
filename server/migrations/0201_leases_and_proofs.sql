-- The process that holds the lease of a connection test: only its result counts.
ALTER TABLE connection_tests ADD COLUMN poller_id uuid;
-- The time of the newest proof among boots that are no longer remembered, ms since 1970: older proofs can be replays.
ALTER TABLE agent_heartbeats ADD COLUMN proof_floor bigint NOT NULL DEFAULT 0;
