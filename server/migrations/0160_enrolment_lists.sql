-- The hosts that a token may enrol. Each name enrols once. A token without a list enrols any host.
ALTER TABLE enrollment_tokens ADD COLUMN has_list boolean NOT NULL DEFAULT false;
CREATE TABLE enrollment_token_hosts (
  token_id uuid NOT NULL REFERENCES enrollment_tokens ON DELETE CASCADE,
  -- In lower case.
  host text NOT NULL,
  enrolled_at timestamptz,
  PRIMARY KEY (token_id, host)
);
CREATE INDEX enrollment_token_hosts_missing ON enrollment_token_hosts (token_id, host) WHERE enrolled_at IS NULL;
