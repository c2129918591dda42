-- Rotation of the command key, and signed revocations (ADR 36).
-- Number of the command key that a host holds: the one of its enrolment, or the newest that it took over. -1: a key that
-- this server does not have. A host that never followed a rotation may be too old to.
ALTER TABLE agent_heartbeats ADD COLUMN command_key int NOT NULL DEFAULT 0;
ALTER TABLE agent_heartbeats ADD COLUMN follows_keys boolean NOT NULL DEFAULT false;
-- Number of the key that signed a command.
ALTER TABLE commands ADD COLUMN key_number int NOT NULL DEFAULT 0;
-- The statement that an agent frees its host by, as it was signed when the agent was deleted: JSON text. Null for agents
-- that were deleted before: nobody but the server may say afterwards that it deleted them.
ALTER TABLE revoked_agents ADD COLUMN statement text;
