-- Every part of a change that waits for a second approver, one per line. Its seal covers them.
ALTER TABLE change_requests ADD COLUMN details text[] NOT NULL DEFAULT '{}';
