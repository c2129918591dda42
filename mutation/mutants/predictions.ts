import type { Mutant } from '../mutant.ts'

const features = 'server/src/features'
const test = `${features}/devices/policy/predictions.property.test.ts`
const bulk = { file: `${features}/fleet/actions/bulk.service.ts`, test }
const rollouts = { file: `${features}/fleet/rollouts/advance.ts`, test }
const simulator = { file: `${features}/devices/policy/policy-test.service.ts`, test }
const drafts = { file: `${features}/devices/policy/draft.service.ts`, test }
const tags = { file: `${features}/devices/policy/tag-gate.ts`, test }
const read = { file: `${features}/devices/policy/predict.read.ts`, test }

/** Callers of the prediction that ask for something else than the others do. */
export const predictionsMutants: readonly Mutant[] = [
  {
    ...bulk,
    does: 'The preview of a bulk action covers a week',
    find: 'predict(tx, change, { hosts: where })',
    replace: 'predict(tx, change, { hosts: where, days: 7 })',
  },
  {
    ...rollouts,
    does: 'A rollout predicts that attached devices stay allowed although it judges them',
    find: 'applyToPresent: settings.applyToPresent } as const',
    replace: 'applyToPresent: false } as const',
  },
  {
    ...simulator,
    does: 'The simulator examines hosts that cannot block devices',
    find: 'isEveryGrade: host !== null',
    replace: 'isEveryGrade: true',
  },
  {
    ...drafts,
    does: 'The preview of rules leaves the removed rules in force',
    find: 'await predict(tx, { rules })',
    replace: 'await predict(tx, { rules: { gone: [], write: rules.write } })',
  },
  {
    ...tags,
    does: 'The preview of tags leaves out the first change',
    find: 'predict(q, { tags: changes }',
    replace: 'predict(q, { tags: changes.slice(1) }',
  },
  {
    ...read,
    does: 'Devices that a host does not block count as blocked',
    find: 'p.authorized and p.enforced',
    replace: 'p.authorized and false and p.enforced',
  },
]
