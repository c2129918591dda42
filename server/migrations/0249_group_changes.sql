-- When and by whom a notification group was last changed, so that a save does not overwrite the change of another person.
ALTER TABLE notification_groups ADD COLUMN updated_at timestamptz, ADD COLUMN updated_by text NOT NULL DEFAULT '';
