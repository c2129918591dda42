import {
  allDifferences,
  createSeals,
  createSetSeals,
  findForged,
  isSealDue,
  rulesPurpose,
  setPurpose,
} from '@portcullis/features/policy/server/index.ts'
import type { Keys } from '@portcullis/platform/server/keys.ts'
import type { RuleSetFacts } from './doctor.read.ts'
import { error, type Finding, ok, warning } from './finding.ts'

const name = 'policy rules'

/** Compares the stored rules with the set that the server sealed. `keys`: null if the key file cannot be read. */
export const rules = async (
  facts: RuleSetFacts | null,
  keys: Pick<Keys, 'derive' | 'ruleSeal'> | null,
): Promise<Finding[]> => {
  if (facts === null) return []
  const { set } = facts
  if (keys === null)
    return [warning(name, 'not checked: the key file cannot be read', 'Run this command as the user of the server.')]
  const forged = await findForged(facts.sealedAfter, createSeals(keys.derive(rulesPurpose)))
  const isWhole = await createSetSeals(keys.derive(setPurpose)).isWhole(set, forged)
  const recorded = keys.ruleSeal.read()
  const isDue = isWhole === null && isSealDue(recorded, facts.unsealed)
  const checked = { forged, isSealMissing: isWhole === null && !isDue }
  if (forged.length > 0 && (isWhole === true || isDue))
    return [
      warning(
        name,
        `written in the database and without effect: ${allDifferences(checked, []).join('; ')}`,
        'Delete these rules in the console.',
      ),
    ]
  const counted = `${set.members.length / 48} rules, as the server sealed them`
  if (isWhole === true)
    return recorded === 'done'
      ? [ok(name, counted)]
      : [
          warning(
            name,
            `${counted}, but the key file does not record that they are sealed`,
            'Start the server, which records it. It needs write access to the folder of the key file.',
          ),
        ]
  if (isDue) return [ok(name, 'not sealed yet; the server seals the rules an hour after an upgrade')]
  const differences = allDifferences(checked, facts.differences)
  const named = differences.length === 0 ? 'the history of the policy does not show which' : differences.join('; ')
  return [
    error(
      name,
      `changed in the database, not by the server: ${named}`,
      'No policies are signed, and armed hosts keep their last one. Restore the database from a backup. Or correct the rules in the console and review all of them. Then stop the server and run: portcullis admin accept-rules --yes',
    ),
  ]
}
