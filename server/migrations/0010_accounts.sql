-- Accounts, their sessions and tokens, and what guards the sign-in. Times come from the server's clock, never from now().
CREATE TABLE accounts (
  account_id uuid PRIMARY KEY,
  user_name text NOT NULL,
  -- user_name in NFC and lower case: unique whatever the case.
  name_key text NOT NULL CONSTRAINT accounts_name_unique UNIQUE,
  -- argon2id in PHC form; null until the owner used his set-password link.
  password_hash text,
  user_profile smallint NOT NULL CHECK (user_profile IN (10, 20, 30)),
  first_name text NOT NULL DEFAULT '',
  last_name text NOT NULL DEFAULT '',
  email text NOT NULL DEFAULT '',
  phone text,
  image text NOT NULL DEFAULT '',
  auth_source text NOT NULL DEFAULT 'Local' CHECK (auth_source IN ('Local', 'LDAP', 'OIDC')),
  is_enabled boolean NOT NULL DEFAULT true,
  must_change_password boolean NOT NULL DEFAULT false,
  -- Access tokens carry it; counting up ends all of them.
  token_version int NOT NULL DEFAULT 1,
  last_sign_in timestamptz,
  created_at timestamptz NOT NULL
);

CREATE TABLE sessions (
  session_id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ip text NOT NULL,
  user_agent text NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX sessions_account ON sessions (account_id, created_at DESC, session_id DESC);
CREATE INDEX sessions_last_used ON sessions (last_used_at);

-- Every refresh token a session ever gave, by SHA-256: a used one that comes again ends the session.
CREATE TABLE session_refresh_tokens (
  token_hash bytea PRIMARY KEY,
  session_id uuid NOT NULL REFERENCES sessions ON DELETE CASCADE,
  used_at timestamptz
);
CREATE INDEX session_refresh_tokens_session ON session_refresh_tokens (session_id);

CREATE TABLE api_tokens (
  token_id uuid PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  name text NOT NULL,
  user_profile smallint NOT NULL CHECK (user_profile IN (10, 20, 30)),
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  last_used_at timestamptz
) WITH (fillfactor = 80);
CREATE INDEX api_tokens_account ON api_tokens (account_id);

CREATE TABLE password_links (
  token_hash bytea PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);
CREATE INDEX password_links_account ON password_links (account_id);

CREATE TABLE download_tickets (
  ticket_hash bytea PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  -- The session or API token it was made with: its rights are the ticket's, as of its use.
  credential_kind text NOT NULL CHECK (credential_kind IN ('session', 'apiToken')),
  credential_id uuid NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX download_tickets_account ON download_tickets (account_id);

-- Addresses an account has signed in from: its own bucket of guesses keeps the owner in while others guess.
CREATE TABLE signin_sources (
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  ip text NOT NULL,
  last_success_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, ip)
);

-- Failed sign-ins of the last 15 minutes per bucket: `account:<key>`, `ip:<address>`, `known:<key>|<address>`.
CREATE TABLE signin_buckets (
  bucket text PRIMARY KEY,
  -- Microseconds since 1970, made unique so that one can be taken back.
  failed_at bigint[] NOT NULL
) WITH (fillfactor = 70);

-- Failed sign-ins of one account and address within 15 minutes, waiting to become one audit record.
CREATE TABLE signin_failure_folds (
  subject text NOT NULL,
  ip text NOT NULL,
  window_start timestamptz NOT NULL,
  failures int NOT NULL,
  PRIMARY KEY (subject, ip)
);
