-- When an event happened on its host, by the clock of the server. Null: the host did not say when.
ALTER TABLE events ADD COLUMN occurred_at timestamptz, ADD COLUMN occurred_uncertainty_ms int;
