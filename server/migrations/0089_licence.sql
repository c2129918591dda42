-- What agents are told of the licence: one row, kept by the feature that judges it.
CREATE TABLE licence_state (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  account_id text NOT NULL,
  account_name text NOT NULL
);
INSERT INTO licence_state (account_id, account_name) VALUES ('', 'Community');
