import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { cleanText, isSignedVerification, majorBuildOf, openSteps, verificationFault } from '@portcullis/domain'
import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import { type Queryable, type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { Compile } from 'typebox/compile'
import {
  WindowsVerification,
  type WindowsVerificationFile,
  type WindowsVerificationRow,
  windowsSteps,
} from '#features/contract.ts'
import type { BuildsContext } from '../context.ts'
import { createWindowsStore, type VerificationRow } from './windows.store.ts'

const isVerification = Compile(WindowsVerification)

/** An import that waits for a second approver. */
interface Import {
  file: WindowsVerificationFile
  confirmed: readonly string[]
  /** The host at the time of the request, shown to the approver. */
  host: string
}

const invalid = (detail: string): AppError => new AppError('verification_invalid', { detail })

/** Reads the signed text. Throws if it is not a verification. */
const parse = (payload: string): WindowsVerification => {
  let value: unknown
  try {
    value = JSON.parse(payload)
  } catch {
    throw invalid('The file does not contain JSON.')
  }
  if (isVerification.Check(value)) return value
  const [fault] = isVerification.Errors(value)
  throw invalid(`The file is not a Windows verification: ${fault?.instancePath ?? ''} ${fault?.message ?? ''}`.trim())
}

const titleOf = (id: string): string => windowsSteps.find((step) => step.id === id)?.title ?? id
const stepsText = (ids: readonly string[]): string => ids.join(', ')
const entityOf = (build: string): string => `Windows build ${build}`

/** Manages the verifications of Windows builds. */
export const createVerifications = ({ db, clock, log, audit, changeRequests, keys }: BuildsContext) => {
  const store = createWindowsStore()
  const sealKey = keys.derive('windows verifications')
  const sealOf = (row: Omit<VerificationRow, 'seal'>): Buffer =>
    createHmac('sha256', sealKey.reveal())
      .update(
        JSON.stringify([
          row.build,
          row.agent_id,
          row.host,
          row.payload,
          row.signature,
          row.confirmed,
          row.imported_at.toISOString(),
          row.imported_by,
        ]),
      )
      .digest()

  /** Returns the verifications that this server stored. Skips rows that another program wrote into the database. */
  async function authentic(q: Queryable): Promise<VerificationRow[]> {
    const rows = await store.verifications(q)
    return rows.filter((row) => {
      const seal = sealOf(row)
      const isOurs = row.seal.length === seal.length && timingSafeEqual(row.seal, seal)
      if (!isOurs) log.error({ build: row.build }, 'a stored Windows verification has an invalid seal and is ignored')
      return isOurs
    })
  }

  const viewOf = (row: VerificationRow): WindowsVerificationRow => {
    const { osBuild, edition, agentVersion, createdAt, checks } = parse(row.payload)
    return {
      build: row.build,
      osBuild,
      edition: cleanText(edition, 120),
      agentVersion: cleanText(agentVersion, 64),
      uuid: row.agent_id,
      hostIdentifier: row.host,
      createdAt: new Date(createdAt).toISOString(),
      passed: checks.filter(({ result }) => result === 'passed').length,
      confirmed: row.confirmed as WindowsVerificationRow['confirmed'],
      importedAt: row.imported_at.toISOString(),
      importedBy: row.imported_by,
    }
  }

  /** Checks a file against the host that signed it. Throws if it cannot be imported. */
  async function read(q: Queryable, file: WindowsVerificationFile, confirmed: readonly string[]) {
    const verification = parse(file.payload)
    const host = await store.host(q, verification.agentId)
    if (host === undefined || host.public_key === null)
      throw invalid('The file comes from a host that this server does not know.')
    if (!isSignedVerification(file, host.public_key))
      throw invalid(`The file was changed, or the agent of ${host.host} did not sign it.`)
    const fault = verificationFault(verification, { osBuild: host.os_build, now: clock.now() })
    if (fault !== null) throw invalid(fault)
    const { failed, unconfirmed, needless } = openSteps(verification, confirmed)
    const faults = [
      ...(failed.length === 0 ? [] : [`These steps failed: ${stepsText(failed)}.`]),
      ...(unconfirmed.length === 0 ? [] : [`Confirm these steps: ${stepsText(unconfirmed)}.`]),
      ...(needless.length === 0
        ? []
        : [`Do not confirm these steps, because the program performed them: ${stepsText(needless)}.`]),
    ]
    if (faults.length > 0) throw new AppError('verification_incomplete', { detail: faults.join(' ') })
    return { verification, host, build: majorBuildOf(verification.osBuild) }
  }

  async function put(tx: Tx, actor: Actor, file: WindowsVerificationFile, confirmed: readonly string[]) {
    const { verification, host, build } = await read(tx, file, confirmed)
    const row = {
      build,
      agent_id: host.agent_id,
      host: host.host,
      payload: file.payload,
      signature: file.signature,
      confirmed: windowsSteps.map(({ id }) => id as string).filter((id) => confirmed.includes(id)),
      imported_at: new Date(clock.now()),
      imported_by: actor.userName,
    }
    const sealed = { ...row, seal: sealOf(row) }
    await store.put(tx, sealed)
    await audit.write(tx, actor, {
      action: 'windows.verificationImported',
      entity: entityOf(build),
      details: `${verification.osBuild}, ${cleanText(verification.edition, 120)}, host ${host.host} (${host.agent_id}); confirmed by hand: ${stepsText(row.confirmed) || 'none'}`,
      severity: 4,
      objects: [{ kind: 'host', id: host.agent_id, name: host.host }],
      facts: [{ name: 'Limit of armed hosts', before: 'five', after: 'none' }],
    })
    return viewOf(sealed)
  }

  changeRequests.handle<Import>('windows-verification', {
    action: 'windows',
    title: ({ file, host }) =>
      `Import the verification of Windows ${parse(file.payload).osBuild} by ${host}: any number of hosts of this build can then be armed`,
    details: (_tx, { file, confirmed }) => {
      const { agentId, osBuild, edition, agentVersion, createdAt, checks } = parse(file.payload)
      return [
        `${edition}, build ${osBuild}, agent ${agentVersion}, verified at ${createdAt} on host ${agentId}`,
        ...checks.map(({ id, detail }) =>
          confirmed.includes(id)
            ? `Confirmed by hand: ${titleOf(id)}`
            : `Passed: ${titleOf(id)}${detail === '' ? '' : ` (${detail})`}`,
        ),
        ...confirmed.map((id) => `Step confirmed by hand: ${id}`),
        `SHA-256 of the verification: ${createHash('sha256').update(file.payload).digest('hex')}`,
        `Signature: ${file.signature}`,
      ]
    },
    carryOut: async (tx, actor, { file, confirmed }) => {
      await put(tx, actor, file, confirmed)
      return undefined
    },
  })

  return {
    /** Returns the builds with a verification. */
    builds: async (q: Queryable): Promise<ReadonlySet<string>> =>
      new Set((await authentic(q)).map(({ build }) => build)),

    list: async (): Promise<WindowsVerificationRow[]> => (await authentic(db)).slice(0, 100).map(viewOf),

    /** Stores a verification, or files a request for a second approver. */
    take: async (
      actor: Actor,
      { file, confirmed }: { file: WindowsVerificationFile; confirmed: readonly string[] },
    ): Promise<WindowsVerificationRow> => {
      const { host } = await read(db, file, confirmed)
      await changeRequests.assertAlone<Import>(actor, { kind: 'verification' }, () => ({
        kind: 'windows-verification',
        change: { file, confirmed, host: host.host },
        detail:
          'Importing a Windows verification needs a second approver. Ask another Administrator to approve request {id}.',
      }))
      return transactionAgain(db, (tx) => put(tx, actor, file, confirmed))
    },

    remove: (actor: Actor, build: string): Promise<{ removed: true }> =>
      transactionAgain(db, async (tx) => {
        const gone = await store.remove(tx, build)
        if (gone === undefined) throw notFound('No verification of this Windows build was imported.')
        await audit.write(tx, actor, {
          action: 'windows.verificationRemoved',
          entity: entityOf(build),
          details: `host ${gone.host}; armed hosts stay armed`,
          severity: 4,
          facts: [{ name: 'Limit of armed hosts', before: 'none', after: 'five' }],
        })
        return { removed: true }
      }),
  }
}

export type Verifications = ReturnType<typeof createVerifications>
