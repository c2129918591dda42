-- Lists as files that are made by themselves (ADR 0021).
CREATE TABLE report_schedules (
  schedule_id uuid PRIMARY KEY,
  name text NOT NULL,
  name_key text NOT NULL CONSTRAINT report_schedules_name_unique UNIQUE,
  -- List, filter, columns, sort, format, cadence, range, recipients, folder, files kept: as in the contract.
  definition jsonb NOT NULL,
  is_enabled boolean NOT NULL,
  -- Whose rights it runs with. Who is deleted leaves schedules that refuse to run until somebody saves them.
  owner_id uuid REFERENCES accounts ON DELETE SET NULL,
  owner_name text NOT NULL,
  updated_at timestamptz NOT NULL,
  -- Moved in the transaction that orders the run, so that no run is lost or ordered twice. Null: not enabled.
  next_run_at timestamptz
);
CREATE INDEX report_schedules_due ON report_schedules (next_run_at);
CREATE INDEX report_schedules_owner ON report_schedules (owner_id);

CREATE TABLE report_runs (
  run_id uuid PRIMARY KEY,
  schedule_id uuid REFERENCES report_schedules ON DELETE SET NULL,
  -- The schedule as it was when the run was ordered: an edit changes no run under way.
  name text NOT NULL,
  definition jsonb NOT NULL,
  owner_id uuid,
  owner_name text NOT NULL,
  reason text NOT NULL CHECK (reason IN ('schedule', 'manual')),
  ordered_by text NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'completed', 'failed', 'cancelled')),
  job_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  missed int NOT NULL DEFAULT 0,
  range_from timestamptz,
  range_to timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  rows bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  file_name text NOT NULL DEFAULT '',
  -- Its pieces are in report_chunks.
  has_file boolean NOT NULL DEFAULT false,
  -- Name below the folder of the schedule, while the file is there.
  folder_file text NOT NULL DEFAULT '',
  note text NOT NULL DEFAULT '',
  error text NOT NULL DEFAULT ''
);
CREATE INDEX report_runs_of_schedule ON report_runs (schedule_id, created_at);
CREATE INDEX report_runs_created ON report_runs (created_at);
CREATE INDEX report_runs_open ON report_runs (job_id) WHERE state IN ('waiting', 'running');
-- What moving next_run_at promises, as a constraint: one run for one time.
CREATE UNIQUE INDEX report_runs_once ON report_runs (schedule_id, due_at) WHERE reason = 'schedule';

-- The file in pieces of 1 MiB: every replica can send it, and a mail reads it when it is sent.
CREATE TABLE report_chunks (
  run_id uuid NOT NULL REFERENCES report_runs ON DELETE CASCADE,
  n int NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (run_id, n)
);

CREATE TABLE report_deliveries (
  run_id uuid NOT NULL REFERENCES report_runs ON DELETE CASCADE,
  n int NOT NULL,
  kind text NOT NULL CHECK (kind IN ('mail', 'folder')),
  target text NOT NULL,
  state text NOT NULL CHECK (state IN ('waiting', 'done', 'failed')),
  error text NOT NULL DEFAULT '',
  at timestamptz NOT NULL,
  PRIMARY KEY (run_id, n)
);
