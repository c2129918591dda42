-- Where the system is that took a quarantine: host and port, written with the first address that it took.
ALTER TABLE nac_quarantines
  ADD COLUMN place text NOT NULL DEFAULT '',
  -- To be cleared, and the settings name another place now: only a person's word, or the old settings, end it.
  ADD COLUMN is_moved boolean NOT NULL DEFAULT false;
