-- The release key that each host reports: the first 16 digits of its fingerprint, or a word for none.
ALTER TABLE agent_rows ADD COLUMN release_key text NOT NULL DEFAULT 'unreported';

COMMENT ON TABLE agent_release_key IS
  'Key that an earlier version pinned over HTTP. It is shown to operators and trusted by nothing.';
