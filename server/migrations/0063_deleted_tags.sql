-- A rule whose tag is deleted is inert from then on: the policy has a new version, and hosts that carried the tag are decided
-- about anew. Before the row goes, because afterwards nobody knows who carried it.
CREATE FUNCTION end_rules_of_tag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM policy_rules r WHERE r.tag_id = OLD.tag_id) THEN
    WITH h AS (UPDATE policy_head SET version = version + 1 RETURNING version)
    INSERT INTO policy_versions (version, created_at, created_by, summary)
    SELECT h.version, now(), 'system', 'Rules for tag ' || OLD.name || ' ended with the tag' FROM h;
    INSERT INTO policy_queue (agent_id)
    SELECT x.agent_id FROM agent_tags x WHERE x.tag_id = OLD.tag_id ORDER BY x.agent_id ON CONFLICT DO NOTHING;
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER tags_end_rules BEFORE DELETE ON tags FOR EACH ROW EXECUTE FUNCTION end_rules_of_tag();
