-- Open findings at the end of each day. Null: a release that did not count them recorded the day.
ALTER TABLE fleet_days ADD COLUMN open_findings int;
