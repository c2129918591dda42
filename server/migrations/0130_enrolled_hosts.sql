-- The page that adds hosts lists the newest hosts of each token.
CREATE INDEX agents_enrollment_token ON agents (enrollment_token_id, enrolled_at DESC) WHERE enrollment_token_id IS NOT NULL;
