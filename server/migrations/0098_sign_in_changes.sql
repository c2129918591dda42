-- When the settings last changed by which a directory or provider decides who signs in: its accounts do not approve for a day.
ALTER TABLE approval_gate
  ADD COLUMN ldap_changed_at timestamptz,
  ADD COLUMN oidc_changed_at timestamptz;
-- What released hosts did is counted for everybody together.
CREATE INDEX released_hosts_effect ON released_hosts (effect, released_at);
