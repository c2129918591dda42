-- The job that will sign the newest order to arm or free this host. Null: no such job waits. No index, so that updates
-- stay in their page (HOT).
ALTER TABLE agent_heartbeats ADD COLUMN mode_job uuid;
