import { type WindowsRefusal, windowsRefusals } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import type { SqlFragment } from '@portcullis/platform/server/db/sql.ts'
import { type BlockedDevice, type LeftOutHost, namedInPreview } from '#features/contract.ts'
import { type Predicted, testedRow } from '#features/policy/server/index.ts'
import { createBulkRead } from './bulk.read.ts'
import { impossible } from './possible.ts'

const noBuilds = new Map()

/** Returns the first hosts of a selection that cannot be armed, by name, with the reason of each. */
export const hostsLeftOut = async (
  db: Queryable,
  all: SqlFragment,
  refused: ReadonlyMap<string, WindowsRefusal>,
): Promise<LeftOutHost[]> => {
  const hosts = await createBulkRead(db).notArmable(all, [...refused.keys()], namedInPreview)
  return hosts.map(({ agent_id, host, ...target }) => {
    const code = refused.get(agent_id)
    const reason = code === undefined ? (impossible('arm', target, noBuilds) ?? '') : windowsRefusals[code]
    return { uuid: agent_id, hostIdentifier: host, reason, ...(code === undefined ? {} : { code }) }
  })
}

/** Returns the first devices that arming blocks. */
export const devicesBlocked = async ({ page }: Predicted): Promise<BlockedDevice[]> => {
  const rows = await page({ only: 'block', limit: namedInPreview, offset: 0 })
  return rows.map((row) => {
    const { decision: _always, ...tested } = testedRow(row)
    const { caption, serial: serialNumber, present, stopsWorking } = row
    return { ...tested, caption, serialNumber, present, stopsWorking }
  })
}
