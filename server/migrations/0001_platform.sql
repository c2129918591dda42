-- Streams whose ids have no gaps (platform/db/ordered.ts) and the audit chain that lies on one of them.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE TABLE ordered_head (
  stream text PRIMARY KEY,
  n bigint NOT NULL DEFAULT 0,
  -- Hash of the last record, for chained streams.
  hash bytea
) WITH (fillfactor = 50);
INSERT INTO ordered_head (stream, n, hash) VALUES
  ('events', 0, NULL), ('outbox', 0, NULL), ('audit', 0, decode(repeat('00', 32), 'hex'));

-- Append-only: UPDATE and DELETE are refused by trigger, changes by others show in the chain.
CREATE TABLE audit_records (
  audit_id bigint PRIMARY KEY,
  created_at timestamptz NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  severity smallint NOT NULL,
  -- The record as hashed: JSON text of all that the answer shows.
  record text NOT NULL,
  hash bytea NOT NULL
);
CREATE INDEX audit_records_created ON audit_records (created_at);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit records are append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_records_append_only BEFORE UPDATE OR DELETE ON audit_records FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_records_no_truncate BEFORE TRUNCATE ON audit_records FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Named strings of the general configuration; secrets are encrypted before they come here.
CREATE TABLE config_items (
  name text PRIMARY KEY,
  value text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now()
);
