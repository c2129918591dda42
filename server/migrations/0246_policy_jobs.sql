-- The job that made a version of the policy, so that one undo reverts all versions of a bulk approval.
ALTER TABLE policy_versions ADD COLUMN job_id uuid;
CREATE INDEX policy_versions_job ON policy_versions (job_id) WHERE job_id IS NOT NULL;
