-- Accounts of a directory or provider: who they are there, and what was last said of them.
ALTER TABLE accounts
  -- Issuer of the identity provider; null for a directory.
  ADD COLUMN external_issuer text,
  -- Subject at the provider, or the lasting id of the entry; null for local accounts and directories without one.
  ADD COLUMN external_id text,
  -- Disabled because the directory said so: the next sign-in it allows enables the account again.
  ADD COLUMN withdrawn_at timestamptz,
  -- When directory or provider last said that the account may sign in.
  ADD COLUMN confirmed_at timestamptz;
CREATE UNIQUE INDEX accounts_external_unique ON accounts (external_issuer, external_id) WHERE external_issuer IS NOT NULL;

-- Answers of a provider that were taken: one that comes again is refused. By SHA-256 of their state.
CREATE TABLE oidc_answers (
  state_hash bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX oidc_answers_expires ON oidc_answers (expires_at);
