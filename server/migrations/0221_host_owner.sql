-- The person or team that a host belongs to, and notes about it. People enter both.
ALTER TABLE agents ADD COLUMN owner text NOT NULL DEFAULT '', ADD COLUMN notes text NOT NULL DEFAULT '';
CREATE INDEX agents_owner ON agents (lower(owner), agent_id) WHERE owner <> '';
