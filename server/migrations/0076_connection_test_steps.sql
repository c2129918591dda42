-- Steps of a test that are over, for whoever watches it.
ALTER TABLE connection_tests ADD COLUMN steps jsonb NOT NULL DEFAULT '[]';
