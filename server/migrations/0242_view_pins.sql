-- Saved views that an account pinned to its navigation.
CREATE TABLE saved_view_pins (
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  view_id uuid NOT NULL REFERENCES saved_views ON DELETE CASCADE,
  PRIMARY KEY (account_id, view_id)
);
CREATE INDEX saved_view_pins_view ON saved_view_pins (view_id);
