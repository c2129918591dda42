import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { AgentPackage, listPackages, PackageHeader, ResponseOf } from '@portcullis/contract'
import { compareVersions, isSignedBuild, releaseKeyFingerprint } from '@portcullis/domain'
import type { AuditApi } from '#features/audit/index.ts'
import { AppError, notFound } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import { newId } from '#platform/ids.ts'
import type { Secret } from '#platform/secret.ts'
import type { PackageCache } from './package-cache.ts'
import { type PackageSource, readPackage } from './package-file.ts'
import type { PackageRow, PackagesStore, ReleaseKeyRow } from './packages.store.ts'

/** Bytes of one row of the compressed executable. */
const chunkBytes = 1024 * 1024

/** What an update command says of a build. */
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
}

export interface PackagesDeps {
  db: Db
  clock: Clock
  store(db: Db | Tx): PackagesStore
  cache: PackageCache
  audit: Pick<AuditApi, 'write'>
  /** Seals the pinned key: who can write to the database alone can not pin another. */
  sealKey: Secret<Buffer>
  /** Folder for what is being uploaded. */
  folder: string
}

export type PackagesService = ReturnType<typeof createPackagesService>

const buildOf = (row: PackageRow): PublishedBuild => ({
  version: row.version,
  architecture: row.architecture,
  sha256: row.sha256.toString('hex'),
  size: row.size,
  releaseKey: row.release_key.toString('base64'),
  releaseSignature: row.signature.toString('base64'),
})

const isPublished = (row: PackageRow): boolean => row.withdrawn_at === null

const newestOf = (rows: readonly PackageRow[], architecture: string): PackageRow | undefined =>
  rows
    .filter((row) => isPublished(row) && row.architecture === architecture)
    .sort((a, b) => compareVersions(b.version, a.version))[0]

const view = (row: PackageRow, rows: readonly PackageRow[]): AgentPackage => ({
  id: row.package_id,
  version: row.version,
  architecture: row.architecture as AgentPackage['architecture'],
  sha256: row.sha256.toString('hex'),
  size: row.size,
  state: isPublished(row) ? 'Published' : 'Withdrawn',
  isNewest: newestOf(rows, row.architecture)?.package_id === row.package_id,
  publishedAt: row.published_at.toISOString(),
  publishedBy: row.published_by,
})

const named = ({ version, architecture }: { version: string; architecture: string }): string =>
  `${version} ${architecture}`

/** Refusals that may mean somebody tries to bring a build of his own onto the fleet. */
const suspicious = new Set(['package_key_refused', 'package_signature_wrong', 'package_damaged'])

export const createPackagesService = ({ db, clock, store, cache, audit, sealKey, folder }: PackagesDeps) => {
  const sealOf = (publicKey: Buffer): Buffer => createHmac('sha256', sealKey.reveal()).update(publicKey).digest()

  /** The pinned key; one without our seal is as good as none. */
  const pinned = async (queryable: Db | Tx = db): Promise<ReleaseKeyRow | null> => {
    const row = await store(queryable).releaseKey()
    if (row === undefined) return null
    const seal = sealOf(row.public_key)
    return row.seal.length === seal.length && timingSafeEqual(row.seal, seal) ? row : null
  }

  /** Refuses what must not be published; asked before the upload is read, and again by the transaction that stores it. */
  const assertPublishable = async (queryable: Db | Tx, header: PackageHeader, trust: string | undefined) => {
    if (!isSignedBuild(header)) throw new AppError('package_signature_wrong')
    const fingerprint = releaseKeyFingerprint(header.releaseKey)
    const key = await pinned(queryable)
    if (key === null && trust?.toLowerCase() !== fingerprint) throw new AppError('package_key_unknown', { fingerprint })
    if (key !== null && key.public_key.toString('base64') !== header.releaseKey)
      throw new AppError('package_key_refused', {
        fingerprint,
        pinned: releaseKeyFingerprint(key.public_key.toString('base64')),
      })
    const rows = await store(queryable).all()
    const { version, architecture } = header
    const same = rows.find((row) => row.version === version && row.architecture === architecture)
    if (same !== undefined && same.sha256.toString('hex') !== header.sha256)
      throw new AppError('package_version_taken', { version, architecture })
    const newest = newestOf(rows, architecture)
    if (newest !== undefined && compareVersions(version, newest.version) < 0)
      throw new AppError('package_not_newer', { version, architecture, newest: newest.version })
    return { isFirst: key === null, known: same !== undefined && isPublished(same) ? same : null }
  }

  /** Puts the compressed executable into the database, a piece at a time. */
  const storeChunks = async (tx: Tx, packageId: string, file: FileHandle): Promise<void> => {
    const packages = store(tx)
    for (let n = 0; ; n++) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, n * chunkBytes)
      if (bytesRead > 0) await packages.putChunk(packageId, n, buffer.subarray(0, bytesRead))
      if (bytesRead < chunkBytes) return
    }
  }

  /** Stores a package that was found sound. The transaction waits for a local file of some 34 MB, which takes under a second. */
  const put = (actor: Actor, trust: string | undefined, header: PackageHeader, file: FileHandle) =>
    db.transaction(async (tx) => {
      const packages = store(tx)
      await packages.lock()
      const { isFirst, known } = await assertPublishable(tx, header, trust)
      if (known !== null) return view(known, await packages.all())
      const now = new Date(clock.now())
      const publicKey = Buffer.from(header.releaseKey, 'base64')
      if (isFirst)
        await packages.pinReleaseKey({
          public_key: publicKey,
          pinned_at: now,
          pinned_by: actor.userName,
          seal: sealOf(publicKey),
        })
      const packageId = await packages.put({
        package_id: newId(now.getTime()),
        version: header.version,
        architecture: header.architecture,
        sha256: Buffer.from(header.sha256, 'hex'),
        size: header.size,
        signature: Buffer.from(header.signature, 'base64'),
        release_key: publicKey,
        published_at: now,
        published_by: actor.userName,
      })
      await storeChunks(tx, packageId, file)
      const rows = await packages.all()
      const stored = rows.find((row) => row.package_id === packageId) as PackageRow
      if (isFirst)
        await audit.write(tx, actor, {
          action: 'release_key.pinned',
          entity: releaseKeyFingerprint(header.releaseKey),
          severity: 4,
        })
      await audit.write(tx, actor, {
        action: 'agent_package.published',
        entity: named(header),
        details: `SHA-256 ${header.sha256}, ${header.size} bytes`,
      })
      return view(stored, rows)
    })

  return {
    list: async (): Promise<ResponseOf<typeof listPackages>> => {
      const [key, rows] = await Promise.all([pinned(), store(db).all()])
      return {
        releaseKey:
          key === null
            ? null
            : {
                fingerprint: releaseKeyFingerprint(key.public_key.toString('base64')),
                pinnedAt: key.pinned_at.toISOString(),
                pinnedBy: key.pinned_by,
              },
        data: rows
          .sort((a, b) => compareVersions(b.version, a.version) || (a.architecture < b.architecture ? -1 : 1))
          .map((row) => view(row, rows)),
      }
    },

    /** Reads, checks and stores an upload; nothing of a refused one stays but an audit record of what looks like an attempt. */
    publish: async (actor: Actor, trust: string | undefined, source: PackageSource): Promise<AgentPackage> => {
      let header: PackageHeader | undefined
      try {
        const read = await readPackage(source, folder, async (given) => {
          header = given
          await assertPublishable(db, given, trust)
        })
        try {
          return await put(actor, trust, read.header, read.file)
        } finally {
          await read.file.close()
        }
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
        const packages = store(tx)
        await packages.lock()
        const found = (await packages.all()).find((row) => row.package_id === packageId && isPublished(row))
        if (found === undefined) throw notFound('There is no such published package.')
        await packages.withdraw(packageId, new Date(clock.now()))
        const rows = await packages.all()
        await audit.write(tx, actor, { action: 'agent_package.withdrawn', entity: named(found) })
        return { rows, stored: rows.find((row) => row.package_id === packageId) as PackageRow }
      })
      await cache.keepOnly(answer.rows.filter(isPublished).map((row) => row.sha256.toString('hex')))
      return view(answer.stored, answer.rows)
    },

    /** The executable with this digest, for an agent. */
    download: async (sha256: string) => {
      const found = (await store(db).all()).find((row) => isPublished(row) && row.sha256.toString('hex') === sha256)
      if (found === undefined) throw notFound('No published package has this digest.')
      const content = await cache.download({ packageId: found.package_id, sha256, size: found.size })
      return { content, size: found.size, name: `portcullis-agent-${found.version}-${found.architecture}` }
    },

    /** The newest published build for an architecture, as Node names it; null when there is none that our key signed. */
    latestPackage: async (architecture: string): Promise<PublishedBuild | null> => {
      const [key, rows] = await Promise.all([pinned(), store(db).all()])
      const ours = rows.filter(
        (row) =>
          key?.public_key.equals(row.release_key) === true &&
          isSignedBuild({ ...buildOf(row), signature: row.signature.toString('base64') }),
      )
      const newest = newestOf(ours, architecture)
      return newest === undefined ? null : buildOf(newest)
    },

    /** Whether the build with this digest (hex) is handed out. */
    isPublished: async (sha256: string): Promise<boolean> =>
      (await store(db).all()).some((row) => isPublished(row) && row.sha256.toString('hex') === sha256),

    /** The pinned release key (base64 SPKI DER), for hosts that enrol; null before the first package. */
    releaseKey: async (): Promise<string | null> => (await pinned())?.public_key.toString('base64') ?? null,
  }
}
