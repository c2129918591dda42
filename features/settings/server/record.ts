import type { AuditEntry } from '#features/audit/server/index.ts'
import type { ConfigChange, ConfigItem } from '#features/contract.ts'

/** Returns the audit record of a configuration change. */
export const recordOf = (
  action: 'config.changed' | 'config.rolledBack',
  version: number,
  changes: readonly ConfigChange[],
  itemOf: (name: string) => Pick<ConfigItem, 'label'>,
): AuditEntry => ({
  action,
  entity: `configuration ${version}`,
  details: changes.map(({ name, from, to }) => `${name}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`).join('; '),
  severity: 4,
  count: changes.length,
  objects: changes.map(({ name }) => ({ kind: 'setting', id: name, name: itemOf(name).label })),
  facts: changes.map(({ name, from, to }) => ({ name: itemOf(name).label, before: from, after: to })),
})
