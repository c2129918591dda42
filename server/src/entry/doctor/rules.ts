import {
  allDifferences,
  createSeals,
  createSetSeals,
  findForged,
  rulesPurpose,
  setPurpose,
} from '#features/devices/policy/index.ts'
import type { Keys } from '#platform/keys.ts'
import type { RuleSetFacts } from './doctor.read.ts'
import { error, type Finding, ok, warning } from './finding.ts'

const name = 'policy rules'

/** Compares the stored rules with the set that the server sealed. `keys`: null if the key file cannot be read. */
export const rules = async (facts: RuleSetFacts | null, keys: Pick<Keys, 'derive'> | null): Promise<Finding[]> => {
  if (facts === null) return []
  const { set, wasSealed } = facts
  if (keys === null)
    return [warning(name, 'not checked: the key file cannot be read', 'Run this command as the user of the server.')]
  const forged = await findForged(facts.sealedAfter, createSeals(keys.derive(rulesPurpose)))
  const isWhole = await createSetSeals(keys.derive(setPurpose)).isWhole(set, forged)
  if (forged.length > 0 && (isWhole === true || (isWhole === null && !wasSealed)))
    return [
      warning(
        name,
        `written in the database and without effect: ${allDifferences(forged, []).join('; ')}`,
        'Delete these rules in the console.',
      ),
    ]
  if (isWhole === true) return [ok(name, `${set.members.length / 48} rules, as the server sealed them`)]
  if (isWhole === null && !wasSealed)
    return [ok(name, 'not sealed yet; the server seals the rules an hour after an upgrade')]
  const differences = allDifferences(forged, facts.differences)
  const named = differences.length === 0 ? 'the history of the policy does not show which' : differences.join('; ')
  return [
    error(
      name,
      `changed in the database, not by the server: ${named}`,
      'No policies are signed, and armed hosts keep their last one. Restore the database from a backup. Or correct the rules in the console and review all of them. Then stop the server and run: portcullis admin accept-rules --yes',
    ),
  ]
}
