-- Each worker process is activated by itself: one that registers later receives no credentials before a person agreed.
-- Processes from before, and those of a previous release that runs beside this one, stay as they were.
ALTER TABLE worker_pollers ADD COLUMN is_activated boolean NOT NULL DEFAULT true;
