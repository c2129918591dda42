-- Suspension by another Administrator, and time-limited exemption from the required second factor.
ALTER TABLE accounts
  -- Until then sessions and API tokens of the account are refused, and it cannot sign in or approve. Null: not suspended.
  ADD COLUMN suspended_until timestamptz,
  ADD COLUMN suspended_by text,
  -- Until then the account may sign in without a required second factor. Set on the server only.
  ADD COLUMN factor_exempt_until timestamptz;
