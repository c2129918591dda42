-- When the mail server and the domain name last changed: both decide who receives set-password links.
ALTER TABLE approval_gate
  ADD COLUMN smtp_changed_at timestamptz,
  ADD COLUMN domain_changed_at timestamptz;
-- Until then the account approves no requests: somebody else may have received its set-password link.
ALTER TABLE accounts ADD COLUMN approves_from timestamptz;
-- Open links from before this migration do not say how they were handed over: they count as mailed.
ALTER TABLE password_links ADD COLUMN is_mailed boolean NOT NULL DEFAULT true;
ALTER TABLE password_links ALTER COLUMN is_mailed SET DEFAULT false;
