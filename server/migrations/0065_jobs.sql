-- Work that takes longer than a request. A job is shown, cancelled and resumed by its row alone (ADR 0011).
CREATE TABLE jobs (
  job_id uuid PRIMARY KEY,
  kind text NOT NULL,
  title text NOT NULL,
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'completed', 'failed', 'cancelled')),
  total int NOT NULL DEFAULT 0,
  done int NOT NULL DEFAULT 0,
  failed int NOT NULL DEFAULT 0,
  message text NOT NULL DEFAULT '',
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  can_cancel boolean NOT NULL,
  -- What is to be done, never changed; and how far it is, changed with each step.
  data jsonb NOT NULL,
  cursor jsonb,
  -- Its handler has work to do: to carry it out, or to clean up after a cancel.
  is_due boolean NOT NULL DEFAULT true,
  -- Who works on it; whoever finds another id here has lost the job and must not change anything for it.
  lease_id uuid,
  lease_until timestamptz NOT NULL DEFAULT '-infinity',
  attempts int NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE INDEX jobs_due ON jobs (lease_until) WHERE is_due;
CREATE INDEX jobs_shown ON jobs (ended_at);
