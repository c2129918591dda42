-- Verifications of Windows builds on real hosts. Each lifts the limit of armed Windows hosts of its build.
CREATE TABLE windows_verifications (
  build text PRIMARY KEY CHECK (build ~ '^[0-9]{1,6}$'),
  agent_id uuid NOT NULL,
  host text NOT NULL,
  -- The signed text and the signature of the host.
  payload text NOT NULL,
  signature text NOT NULL,
  confirmed text[] NOT NULL,
  imported_at timestamptz NOT NULL,
  imported_by text NOT NULL,
  -- MAC by a key outside the database, so that nobody can lift the limit by writing a row.
  seal bytea NOT NULL
);
