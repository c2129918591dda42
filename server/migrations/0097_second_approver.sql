-- Requests of every kind can wait for a second approver. The kinds are registered in code, so no list is kept here.
ALTER TABLE change_requests DROP CONSTRAINT change_requests_action_check;
-- What a request carries that must not be readable in the database, sealed by the key file: a hash, a bind password.
ALTER TABLE change_requests ADD COLUMN sealed bytea;

-- What one person released without a second approver, by what it does: frees or deletes hosts, or allows devices on them.
ALTER TABLE released_hosts ADD COLUMN effect text NOT NULL DEFAULT 'release' CHECK (effect IN ('release', 'allow'));

-- The gate stays on once two Administrators have existed. Only the command line of the server lifts it, for a time.
CREATE TABLE approval_gate (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  is_latched boolean NOT NULL,
  lifted_until timestamptz
);
INSERT INTO approval_gate (is_latched) SELECT count(*) >= 2 FROM accounts WHERE user_profile = 10;

-- In the database, so that every writer of accounts is covered: people, a directory, a provider, the command line.
CREATE FUNCTION latch_approval_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE approval_gate SET is_latched = true
    WHERE NOT is_latched AND (SELECT count(*) FROM accounts WHERE user_profile = 10 AND is_enabled) >= 2;
  RETURN NULL;
END $$;
CREATE TRIGGER accounts_latch_gate_insert AFTER INSERT ON accounts
  FOR EACH ROW WHEN (NEW.user_profile = 10 AND NEW.is_enabled) EXECUTE FUNCTION latch_approval_gate();
CREATE TRIGGER accounts_latch_gate_update AFTER UPDATE OF user_profile, is_enabled ON accounts
  FOR EACH ROW WHEN (NEW.user_profile = 10 AND NEW.is_enabled AND (OLD.user_profile <> 10 OR NOT OLD.is_enabled))
  EXECUTE FUNCTION latch_approval_gate();

-- Who could act as an account that is not theirs: they made, promoted or enabled it, or set its password or factor.
-- No foreign keys: what a deleted account did still counts.
CREATE TABLE account_influences (
  influence_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id uuid NOT NULL,
  by_account uuid NOT NULL,
  how text NOT NULL CHECK (how IN ('created', 'promoted', 'enabled', 'password', 'factor', 'email', 'signIn')),
  -- A second approver agreed to it.
  is_approved boolean NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX account_influences_of ON account_influences (account_id);
