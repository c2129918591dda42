-- Scopes, expiry notices and the last use of API tokens.
ALTER TABLE api_tokens
  -- Permissions the token may use. Null: created before scopes; it may use every permission of its role.
  ADD COLUMN scopes text[],
  ADD COLUMN last_used_ip text,
  -- Name of the person who created it; null on tokens from before this column.
  ADD COLUMN created_by text,
  -- When the server gave a token from before scopes its expiry date; null while it has not, and on tokens with scopes.
  ADD COLUMN limited_at timestamptz,
  -- Steps of the expiry that were announced: 1 = 14 days before, 2 = 3 days before, 3 = expired.
  ADD COLUMN expiry_step smallint NOT NULL DEFAULT 0 CHECK (expiry_step BETWEEN 0 AND 3);
CREATE INDEX api_tokens_expiry ON api_tokens (expires_at) WHERE expiry_step < 3;
