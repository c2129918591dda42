-- The default password goes only to computers that an Administrator added, changed or confirmed: whoever may add
-- computers could have it sent to one of his own.
ALTER TABLE connections ADD COLUMN is_confirmed boolean NOT NULL DEFAULT false;
UPDATE connections SET is_confirmed = true;
-- Since when the connection leads to its host: of several to one host, the first counts.
ALTER TABLE connections ADD COLUMN linked_at timestamptz;
UPDATE connections SET linked_at = changed_at WHERE agent_id IS NOT NULL;
CREATE INDEX connections_host_key ON connections (host_key) WHERE host_key <> '' AND agent_id IS NOT NULL;
