-- Filters, order and columns of a list under a name, private or for all accounts.
CREATE TABLE saved_views (
  view_id uuid PRIMARY KEY,
  -- Path of the page in the console, such as /agents.
  page text NOT NULL,
  name text NOT NULL,
  -- The name in NFC and lower case.
  name_key text NOT NULL,
  -- The search part of the address, without a question mark.
  search text NOT NULL,
  is_shared boolean NOT NULL,
  -- Null: the account was deleted. Its shared views stay.
  owner_id uuid REFERENCES accounts ON DELETE SET NULL,
  changed_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX saved_views_own ON saved_views (owner_id, page, name_key) WHERE NOT is_shared;
CREATE UNIQUE INDEX saved_views_shared ON saved_views (page, name_key) WHERE is_shared;
