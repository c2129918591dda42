-- Second factors of local accounts.
CREATE TABLE account_totp (
  account_id uuid PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
  -- Sealed, bound to the account.
  sealed bytea NOT NULL,
  -- Null until a code of it was confirmed.
  confirmed_at timestamptz,
  -- The newest 30 seconds whose code was used: each serves once.
  last_step bigint NOT NULL DEFAULT 0
);
CREATE TABLE account_passkeys (
  credential_id text PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL DEFAULT '{}',
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX account_passkeys_account ON account_passkeys (account_id);
CREATE TABLE account_recovery_codes (
  code_hash bytea PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE
);
CREATE INDEX account_recovery_codes_account ON account_recovery_codes (account_id);
-- What is being proved: a sign-in behind its password, or a passkey that is being added.
CREATE TABLE mfa_challenges (
  token_hash bytea PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  token_version int NOT NULL,
  kind text NOT NULL CHECK (kind IN ('signin', 'register')),
  -- Challenge of WebAuthn, once one was made.
  challenge text,
  attempts int NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL
);
-- Kept with the factors: asked for at every sign-in.
ALTER TABLE accounts ADD COLUMN mfa_enabled boolean NOT NULL DEFAULT false;
