-- Mails that wait to be sent. What they say is sealed: a set-password link is in it.
CREATE TABLE mails (
  mail_id uuid PRIMARY KEY,
  created_at timestamptz NOT NULL,
  -- What it is about, for people who look after mails that do not leave.
  subject text NOT NULL,
  sealed bytea NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL,
  lease_until timestamptz,
  error text NOT NULL DEFAULT ''
);
CREATE INDEX mails_due ON mails (next_at);
