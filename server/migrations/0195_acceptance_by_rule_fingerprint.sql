-- An acceptance holds at every port and speed, as a rule does: `fingerprint` is now the rule fingerprint. No release wrote
-- acceptances in the earlier form.
delete from accepted_findings;
drop index designs_policy_fingerprint;
create index designs_policy_rule_fingerprint on designs (policy_rule_fingerprint);
