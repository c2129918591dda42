-- When the person behind a session last entered a password or second factor. Sessions from before this migration do not
-- say: they are not fresh, and their people confirm their identity once.
ALTER TABLE sessions ADD COLUMN authenticated_at timestamptz;
-- A passkey confirms the identity of one session only.
ALTER TABLE mfa_challenges ADD COLUMN session_id uuid REFERENCES sessions ON DELETE CASCADE;
CREATE INDEX mfa_challenges_session ON mfa_challenges (session_id) WHERE session_id IS NOT NULL;
ALTER TABLE mfa_challenges DROP CONSTRAINT mfa_challenges_kind_check;
ALTER TABLE mfa_challenges ADD CONSTRAINT mfa_challenges_kind_check
  CHECK (kind IN ('signin', 'register') OR (kind = 'reauthenticate' AND session_id IS NOT NULL));
