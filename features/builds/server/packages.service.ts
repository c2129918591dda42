import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { compareVersions, isSignedBuild, mustExist, releaseKeyFingerprint } from '@portcullis/domain'
import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Db, Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import type { AgentPackage, listPackages, PackageHeader, ReleaseKeyRotation, ResponseOf } from '#features/contract.ts'
import type { BuildsContext } from './context.ts'
import { createPackageCache } from './package-cache.ts'
import { type PackageSource, readPackage } from './package-file.ts'
import { createPackagesStore, type PackageRow } from './packages.store.ts'
import { hostKeyState, type ReleaseKeySource, trustedKey } from './release-key.ts'

/** Number of bytes of the compressed executable per row. */
const chunkBytes = 1024 * 1024

/** The part of a build that an update command contains. */
export interface PublishedBuild {
  version: string
  architecture: string
  /** Hex, of the executable. */
  sha256: string
  size: number
  /** Base64 SPKI DER. */
  releaseKey: string
  /** Base64, over `packageProofText(...)`. */
  releaseSignature: string
  /** Rotations for hosts that still trust an earlier key. */
  rotations: readonly ReleaseKeyRotation[]
}

/** A build that waits for a second approver. The approval publishes exactly this build. */
interface PublishChange {
  packageId: string
  version: string
  architecture: string
  /** Hex, of the executable. */
  sha256: string
}

/** How long a request waits for approval, plus a minute for clock skew. */
const pendingMs = 24 * 3_600_000 + 60_000

export type PackagesService = ReturnType<typeof createPackagesService>

const named = ({ version, architecture }: { version: string; architecture: string }): string =>
  `${version} ${architecture}`

/** Refusals that may mean an attempt to install a foreign build on the fleet. */
const suspicious = new Set(['package_key_refused', 'package_signature_wrong', 'package_damaged'])

export const createPackagesService = (
  context: BuildsContext,
  /** The release key that was configured when the server started; null: none. */
  releaseKey: ReleaseKeySource | null,
) => {
  const { db, clock, config, audit, agents, changeRequests } = context
  /** Holds executables and running uploads. */
  const folder = join(config.dataDir, 'packages')
  const cache = createPackageCache(db, folder)
  const key = releaseKey === null ? null : trustedKey(releaseKey)

  const buildOf = (row: PackageRow): PublishedBuild => ({
    version: row.version,
    architecture: row.architecture,
    sha256: row.sha256.toString('hex'),
    size: row.size,
    releaseKey: row.release_key.toString('base64'),
    releaseSignature: row.signature.toString('base64'),
    rotations: key?.rotations ?? [],
  })

  /** Returns whether the configured release key, which is outside the database, signed exactly this row. */
  const isOurs = (row: PackageRow): boolean =>
    key !== null &&
    row.release_key.toString('base64') === key.releaseKey &&
    isSignedBuild({ ...buildOf(row), signature: row.signature.toString('base64') })

  const stateOf = (row: PackageRow): AgentPackage['state'] =>
    row.pending_since !== null
      ? 'Pending'
      : row.withdrawn_at !== null
        ? 'Withdrawn'
        : isOurs(row)
          ? 'Published'
          : 'Untrusted'

  const isOffered = (row: PackageRow): boolean => stateOf(row) === 'Published'

  const newestOf = (rows: readonly PackageRow[], architecture: string): PackageRow | undefined =>
    rows
      .filter((row) => row.architecture === architecture && isOffered(row))
      .sort((a, b) => compareVersions(b.version, a.version))[0]

  const view = (row: PackageRow, rows: readonly PackageRow[]): AgentPackage => ({
    id: row.package_id,
    version: row.version,
    architecture: row.architecture as AgentPackage['architecture'],
    sha256: row.sha256.toString('hex'),
    size: row.size,
    state: stateOf(row),
    releaseKey: releaseKeyFingerprint(row.release_key.toString('base64')),
    isNewest: newestOf(rows, row.architecture)?.package_id === row.package_id,
    publishedAt: row.published_at.toISOString(),
    publishedBy: row.published_by,
  })

  /**
   * Refuses packages that must not be published. Called before the upload is read and in the transaction that stores
   * it.
   */
  async function assertPublishable(queryable: Db | Tx, header: PackageHeader) {
    if (!isSignedBuild(header)) throw new AppError('package_signature_wrong')
    const fingerprint = releaseKeyFingerprint(header.releaseKey)
    if (key === null) throw new AppError('package_key_unknown', { fingerprint })
    if (key.releaseKey !== header.releaseKey)
      throw new AppError('package_key_refused', { fingerprint, pinned: key.view.fingerprint, where: key.where })
    const rows = await createPackagesStore(queryable).all()
    const { version, architecture } = header
    const same = rows.find((row) => row.version === version && row.architecture === architecture)
    // A version always means the same build, except for builds that this server's key did not sign.
    const isTaken = same !== undefined && stateOf(same) !== 'Untrusted'
    if (isTaken && same.sha256.toString('hex') !== header.sha256)
      throw new AppError('package_version_taken', { version, architecture })
    const newest = newestOf(rows, architecture)
    if (newest !== undefined && compareVersions(version, newest.version) < 0)
      throw new AppError('package_not_newer', { version, architecture, newest: newest.version })
    return { known: same !== undefined && isOffered(same) ? same : null }
  }

  /** Stores the compressed executable in the database, chunk by chunk. */
  async function storeChunks(tx: Tx, packageId: string, file: FileHandle): Promise<void> {
    const packages = createPackagesStore(tx)
    for (let n = 0; ; n++) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, n * chunkBytes)
      if (bytesRead > 0) await packages.putChunk(packageId, n, buffer.subarray(0, bytesRead))
      if (bytesRead < chunkBytes) return
    }
  }

  /** Stores a verified package. The transaction reads a local file of about 34 MB, which takes under a second. */
  const put = (actor: Actor, header: PackageHeader, file: FileHandle) =>
    db.transaction(async (tx) => {
      const packages = createPackagesStore(tx)
      await packages.lock()
      const { known } = await assertPublishable(tx, header)
      if (known !== null) return view(known, await packages.all())
      const now = new Date(clock.now())
      const isPending = !(await changeRequests.mayAlone(actor, { kind: 'program' }, tx))
      const packageId = await packages.put({
        package_id: newId(now.getTime()),
        version: header.version,
        architecture: header.architecture,
        sha256: Buffer.from(header.sha256, 'hex'),
        size: header.size,
        signature: Buffer.from(header.signature, 'base64'),
        release_key: Buffer.from(header.releaseKey, 'base64'),
        published_at: now,
        published_by: actor.userName,
        pending_since: isPending ? now : null,
        pending_by: isPending ? actor.userName : null,
      })
      await storeChunks(tx, packageId, file)
      const rows = await packages.all()
      const stored = mustExist(
        rows.find((row) => row.package_id === packageId),
        'the new package',
      )
      await audit.write(tx, actor, {
        action: isPending ? 'agent_package.uploaded' : 'agent_package.published',
        entity: named(header),
        details: `SHA-256 ${header.sha256}, ${header.size} bytes`,
      })
      return view(stored, rows)
    })

  /** Files the request to publish a pending build, and refuses. Deletes the build if the request cannot be filed. */
  async function requireApproval(actor: Actor, build: AgentPackage): Promise<never> {
    const { id: packageId, version, architecture, sha256 } = build
    try {
      return await changeRequests.require(actor, {
        kind: 'publish-package',
        change: { packageId, version, architecture, sha256 },
        detail:
          'The build is stored, and request {id} waits for a second approver. No host can install the build until then.',
      })
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'second_person_required'))
        await createPackagesStore(db).discard(packageId)
      throw error
    }
  }

  changeRequests.handle<PublishChange>('publish-package', {
    action: 'package',
    title: ({ version, architecture, sha256 }) => `Publish agent ${version} for ${architecture}, SHA-256 ${sha256}`,
    details: (_tx, { packageId }) => [`Stored build ${packageId}`],
    carryOut: async (tx, actor, { packageId, version, architecture, sha256 }) => {
      const packages = createPackagesStore(tx)
      await packages.lock()
      const rows = await packages.all()
      const row = rows.find((one) => one.package_id === packageId)
      if (row?.pending_since == null || row.sha256.toString('hex') !== sha256 || !isOurs(row))
        throw new AppError('conflict', { detail: 'The build of this request no longer waits for approval.' })
      const newest = newestOf(rows, architecture)
      if (newest !== undefined && compareVersions(version, newest.version) < 0)
        throw new AppError('package_not_newer', { version, architecture, newest: newest.version })
      await packages.release(packageId, new Date(clock.now()), actor.userName)
      await audit.write(tx, actor, {
        action: 'agent_package.published',
        entity: named(row),
        details: `SHA-256 ${sha256}, ${row.size} bytes`,
      })
      return undefined
    },
    discard: async (tx, { packageId }) => {
      await createPackagesStore(tx).discard(packageId)
    },
  })

  return {
    list: async (): Promise<ResponseOf<typeof listPackages>> => {
      const [former, rows, hosts] = await Promise.all([
        createPackagesStore(db).formerlyPinned(),
        createPackagesStore(db).all(),
        agents.hostsByReleaseKey(),
      ])
      const trusted = key?.view ?? null
      const formerly = former && releaseKeyFingerprint(former.public_key.toString('base64'))
      const isConfigured = formerly === trusted?.fingerprint || trusted?.earlier.includes(formerly ?? '') === true
      return {
        releaseKey: trusted,
        formerlyPinned:
          former === undefined || formerly === undefined || isConfigured
            ? null
            : { fingerprint: formerly, pinnedAt: former.pinned_at.toISOString(), pinnedBy: former.pinned_by },
        hosts: hosts.map((group) => ({ ...group, state: hostKeyState(group.releaseKey, trusted) })),
        data: rows
          .sort((a, b) => compareVersions(b.version, a.version) || (a.architecture < b.architecture ? -1 : 1))
          .map((row) => view(row, rows)),
      }
    },

    /**
     * Reads, verifies and stores an upload. A refused upload leaves nothing except an audit record if it looks like an
     * attack.
     */
    publish: async (actor: Actor, trust: string | undefined, source: PackageSource): Promise<AgentPackage> => {
      let header: PackageHeader | undefined
      if (trust !== undefined) throw new AppError('release_key_not_over_http')
      try {
        const read = await readPackage(source, folder, async (given) => {
          header = given
          await assertPublishable(db, given)
        })
        let stored: AgentPackage
        try {
          stored = await put(actor, read.header, read.file)
        } finally {
          await read.file.close()
        }
        return stored.state === 'Pending' ? await requireApproval(actor, stored) : stored
      } catch (error) {
        if (error instanceof AppError && suspicious.has(error.code) && header !== undefined) {
          const entity = named(header)
          await db.transaction((tx) =>
            audit.write(tx, actor, {
              action: 'agent_package.refused',
              entity,
              details: error.message,
              severity: 4,
              outcome: 'failure',
            }),
          )
        }
        throw error
      }
    },

    withdraw: async (actor: Actor, packageId: string): Promise<AgentPackage> => {
      const answer = await db.transaction(async (tx) => {
        const packages = createPackagesStore(tx)
        await packages.lock()
        const found = (await packages.all()).find(
          (row) => row.package_id === packageId && (row.withdrawn_at === null || row.pending_since !== null),
        )
        if (found === undefined) throw notFound('No published package has this id.')
        const now = new Date(clock.now())
        if (found.pending_since === null) await packages.withdraw(packageId, now)
        else await packages.discard(packageId)
        await audit.write(tx, actor, { action: 'agent_package.withdrawn', entity: named(found) })
        return { rows: await packages.all(), stored: { ...found, withdrawn_at: now, pending_since: null } }
      })
      await cache.keepOnly(answer.rows.filter(isOffered).map((row) => row.sha256.toString('hex')))
      return view(answer.stored, answer.rows)
    },

    /** Deletes builds whose requests expired. */
    discardExpired: async (): Promise<void> =>
      db.transaction(async (tx) => {
        for (const build of await createPackagesStore(tx).discardOlder(new Date(clock.now() - pendingMs)))
          await audit.write(tx, systemActor('packages'), {
            action: 'agent_package.discarded',
            entity: named(build),
            details: 'not approved in time',
          })
      }),

    /** Returns the executable with this digest, for an agent. */
    download: async (sha256: string) => {
      const found = (await createPackagesStore(db).all()).find(
        (row) => row.sha256.toString('hex') === sha256 && isOffered(row),
      )
      if (found === undefined) throw notFound('No published package has this digest.')
      const content = await cache.download({ packageId: found.package_id, sha256, size: found.size })
      return { content, size: found.size, name: `portcullis-agent-${found.version}-${found.architecture}` }
    },

    /**
     * Returns the newest published build for an architecture, as Node names it; null: this server's key signed none.
     */
    latestPackage: async (architecture: string): Promise<PublishedBuild | null> => {
      const newest = newestOf(await createPackagesStore(db).all(), architecture)
      return newest === undefined ? null : buildOf(newest)
    },

    /** Returns why a previously selected build must no longer be sent to hosts; null: it may be sent. */
    refusalOf: async (build: Omit<PublishedBuild, 'rotations'>): Promise<string | null> => {
      const what = `Build ${build.version} for ${build.architecture}`
      if (build.releaseKey !== key?.releaseKey || !isSignedBuild({ ...build, signature: build.releaseSignature }))
        return `${what} is not signed by the release key of this server.`
      const isStill = (await createPackagesStore(db).all()).some(
        (row) =>
          row.architecture === build.architecture && row.sha256.toString('hex') === build.sha256 && isOffered(row),
      )
      return isStill ? null : `${what} was withdrawn.`
    },
  }
}
