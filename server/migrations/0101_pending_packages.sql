-- Builds that wait for a second approver. They count as withdrawn, so that a previous release of the server does not
-- offer them either.
ALTER TABLE agent_packages ADD COLUMN pending_since timestamptz, ADD COLUMN pending_by text;
ALTER TABLE agent_packages ADD CONSTRAINT agent_packages_pending CHECK (pending_since IS NULL OR withdrawn_at IS NOT NULL);
