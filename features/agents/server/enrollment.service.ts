import { createHash, createPublicKey, randomBytes, timingSafeEqual, verify } from 'node:crypto'
import { knownMachineHash, mustExist } from '@portcullis/domain'
import { plainAddress } from '@portcullis/platform/server/address.ts'
import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import {
  type BodyOf,
  type createEnrollmentToken,
  type EnrollmentToken,
  type EnrolRequest,
  type EnrolResponse,
  enrolProofText,
} from '#features/contract.ts'
import { duplicateEvents } from './agent-events.ts'
import { createAgentsStore } from './agents.store.ts'
import type { AgentsContext } from './context.ts'
import type { Downloads } from './downloads.ts'
import { createEnrollmentStore, type KnownHost, type TokenList, type TokenRow } from './enrollment.store.ts'
import { dictionaryTexts, storedFacts } from './facts.ts'
import type { WindowsInstallers } from './windows-installer.ts'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const statusOf = (row: TokenRow, now: number): EnrollmentToken['status'] => {
  if (row.revoked_at !== null) return 'Revoked'
  if (row.expires_at.getTime() <= now) return 'Expired'
  return row.uses >= row.max_uses ? 'Used up' : 'Active'
}

const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const tokenPattern = /^pce_([0-9a-f]{32})_([A-Za-z0-9_-]{43})(?:\.[A-Za-z0-9_-]{43})?$/

/**
 * Returns a host name in the form in which lists store it. Folds ASCII letters only: `toLowerCase` also turns other
 * characters, such as the Kelvin sign, into ASCII letters, so that another host would take a listed name.
 */
const listedName = (host: string): string => host.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

interface Claim {
  machineIdHash: string | null
  smbiosHash: string | null
  name: string
  macs: readonly string[]
  /** Address from which the host enrols. */
  ip: string
}

/**
 * Returns whether a host that enrols is a known one, and not only claims it (ADR 0084). Anyone can read the machine ID and
 * the name of a host. Only root can read the UUID of its firmware on Linux, and a poll of a host without an agent proved
 * that it answers at its address. Clones of virtual machines may have every ID in common, but no MAC address.
 */
const provesSameMachine = (host: KnownHost, claim: Claim): boolean =>
  listedName(host.host) === claim.name &&
  host.machine_id_hash !== null &&
  host.machine_id_hash === claim.machineIdHash &&
  (host.agentless
    ? plainAddress(host.address) === plainAddress(claim.ip)
    : host.smbios_hash !== null &&
      host.smbios_hash === claim.smbiosHash &&
      (host.macs.length === 0 || claim.macs.length === 0 || host.macs.some((mac) => claim.macs.includes(mac))))

const refuse = (detail: string): AppError => new AppError('enrolment_refused', { detail })

export type EnrollmentService = ReturnType<typeof createEnrollmentService>

export const createEnrollmentService = (
  context: AgentsContext,
  downloads: Downloads,
  installers: WindowsInstallers,
) => {
  const { db, clock, audit } = context
  const store = createEnrollmentStore(db)
  const agents = createAgentsStore(db)

  const view = (row: TokenRow, hosts: EnrollmentToken['hosts'], list: TokenList | null): EnrollmentToken => ({
    id: row.token_id,
    name: row.name,
    createdAt: row.created_at.toISOString(),
    createdBy: row.created_by,
    expiresAt: row.expires_at.toISOString(),
    maxUses: row.max_uses,
    uses: row.uses,
    hashtags: row.hashtags,
    allowTakeOver: row.allow_take_over,
    status: statusOf(row, clock.now()),
    hosts,
    ...(list === null ? {} : { list: { total: list.total, missing: list.missing, missingNames: list.missing_names } }),
  })

  /** Returns the row of a presented token. Wrong secrets take as long as unknown ids. */
  async function tokenOf(text: string): Promise<TokenRow> {
    const match = tokenPattern.exec(text)
    if (match === null) throw refuse('This server did not issue the enrolment token.')
    const [, digits = '', secret = ''] = match
    const id = digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    const row = await store.tokenById(id)
    const expected = row?.secret_hash ?? Buffer.alloc(32)
    if (!timingSafeEqual(digest(secret), expected) || row === undefined)
      throw refuse('This server did not issue the enrolment token.')
    const status = statusOf(row, clock.now())
    // A used-up token still answers the host that took its last use and lost the response.
    if (status !== 'Active' && status !== 'Used up') throw refuse(`The enrolment token is ${status.toLowerCase()}.`)
    return row
  }

  function assertProof(request: EnrolRequest): Buffer {
    const der = Buffer.from(request.publicKey, 'base64')
    let valid = false
    try {
      const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
      const wanted = request.keyAlgorithm === 'Ed25519' ? 'ed25519' : 'ec'
      if (
        key.asymmetricKeyType !== wanted ||
        (wanted === 'ec' && key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
      )
        throw refuse(`The public key is not of the type ${request.keyAlgorithm}.`)
      valid = verify(
        wanted === 'ed25519' ? null : 'sha256',
        Buffer.from(enrolProofText(request.token, request.publicKey)),
        key,
        Buffer.from(request.proof, 'base64'),
      )
    } catch (error) {
      if (error instanceof AppError) throw error
      throw refuse('The public key is not valid.')
    }
    if (!valid) throw refuse('The proof of possession is not valid.')
    return der
  }

  return {
    list: async (): Promise<EnrollmentToken[]> => (await store.tokens()).map((row) => view(row, row.hosts, row.list)),

    create: async (actor: Actor, body: BodyOf<typeof createEnrollmentToken>) => {
      const now = clock.now()
      const listed = [...new Set((body.hostIdentifiers ?? []).map(listedName))].sort()
      const secret = randomBytes(32).toString('base64url')
      const row: TokenRow = {
        token_id: newId(now),
        name: body.name,
        secret_hash: digest(secret),
        created_at: new Date(now),
        created_by: actor.userName,
        expires_at: new Date(now + (body.expiresInHours ?? 24) * 3_600_000),
        max_uses: body.maxUses ?? (listed.length > 0 ? listed.length : 100),
        uses: 0,
        hashtags: body.hashtags ?? [],
        allow_take_over: body.allowTakeOver ?? true,
        revoked_at: null,
        has_list: listed.length > 0,
      }
      await db.transaction(async (tx) => {
        await context.tags.ensureTags(tx, row.hashtags)
        await store.insertToken(tx, row)
        if (row.has_list) await store.insertList(tx, row.token_id, listed)
        await audit.write(tx, actor, {
          action: 'enrolment_token.created',
          entity: row.name,
          details: `expires ${row.expires_at.toISOString()}, at most ${row.max_uses} hosts${row.has_list ? `, only ${listed.length} listed names` : ''}${row.hashtags.length > 0 ? `, tags ${row.hashtags.join(', ')}` : ''}`,
        })
      })
      const { url, caKeyHash, reachableFromElsewhere } = context.reach()
      const token = `pce_${row.token_id.replaceAll('-', '')}_${secret}${caKeyHash === null ? '' : `.${caKeyHash}`}`
      const list = { total: listed.length, missing: listed.length, missing_names: listed.slice(0, 100) }
      return {
        ...view(row, [], row.has_list ? list : null),
        ...{ token, command: downloads.command(), reachableFromElsewhere },
        ...{ serverUrl: url, windowsInstaller: installers.describe() },
      }
    },

    /** Returns the Windows installer with the address of this server and an active token. */
    createInstaller: async (actor: Actor, tokenId: string, token: string) => {
      if (!idPattern.test(tokenId) || (await store.tokenById(tokenId)) === undefined)
        throw notFound('This enrolment token does not exist.')
      const row = await tokenOf(token)
      if (row.token_id !== tokenId) throw refuse('The enrolment token does not belong to this id.')
      const status = statusOf(row, clock.now())
      if (status !== 'Active')
        throw new AppError('conflict', {
          detail: `The enrolment token is ${status.toLowerCase()}. Create a new token.`,
        })
      const installer = await installers.fill({ server: context.reach().url, token })
      if (installer === null)
        throw notFound(
          'This server has no Windows installer. Install a release, or run "npm run build:msi" in the checkout.',
        )
      await db.transaction((tx) =>
        audit.write(tx, actor, {
          action: 'enrolment_token.installer_created',
          entity: row.name,
          details: `agent ${installer.version} for Windows, expires ${row.expires_at.toISOString()}, at most ${row.max_uses} hosts`,
        }),
      )
      return installer
    },

    revoke: (actor: Actor, tokenId: string): Promise<{ deleted: boolean }> =>
      db.transaction(async (tx) => {
        if (!idPattern.test(tokenId)) throw notFound('This enrolment token does not exist.')
        const [row] = await store.revokeToken(tx, tokenId, new Date(clock.now()))
        if (row === undefined) throw notFound('This enrolment token does not exist or was already revoked.')
        await audit.write(tx, actor, { action: 'enrolment_token.revoked', entity: row.name })
        return { deleted: true }
      }),

    /** Enrols a host: a new agent, or a known disconnected host whose id it takes over. */
    enrol: async (request: EnrolRequest, ip: string): Promise<EnrolResponse> => {
      const token = await tokenOf(request.token)
      const publicKey = assertProof(request)
      const texts = dictionaryTexts(request.facts)
      const ids = await agents.dictionaryIds([texts.os, texts.version])
      const now = new Date(clock.now())
      const commandKey = context.keys.command.newest()
      const keys = { commandKey: commandKey.publicKey }
      const actor: Actor = { ...systemActor('enrolment'), ip }
      return db.transaction(async (tx) => {
        const enrolled = await store.agentOfKey(tx, publicKey, token.token_id)
        if (enrolled !== undefined)
          return { agentId: enrolled, serverTime: now.toISOString(), tookOver: false, ...keys }
        if (!(await store.useToken(tx, token.token_id, now))) throw refuse('The enrolment token is used up or expired.')
        // One answer for an unknown and a used name, so that a thief of the token learns nothing about the list.
        const name = listedName(request.facts.hostname)
        if (token.has_list && !(await store.takeListed(tx, token.token_id, name, now)))
          throw refuse(
            'The list of the enrolment token does not contain this host name, or a host with this name has already enrolled.',
          )
        // Earlier versions of the agent report the hashes of placeholders.
        const machineIdHash = knownMachineHash(request.machineIdHash)
        const smbiosHash = knownMachineHash(request.smbiosHash)
        const known = await store.lookAlikes(tx, machineIdHash, smbiosHash)
        // A disconnected armed host may only be unplugged: someone who knows its ids must not replace it by a Free host.
        const mayReturn = (host: KnownHost): boolean =>
          token.allow_take_over &&
          !host.armed &&
          (!host.connected || host.agentless) &&
          provesSameMachine(host, {
            machineIdHash,
            smbiosHash,
            name,
            macs: request.facts.nics.map((nic) => nic.mac),
            ip,
          })
        const silent = known.find(mayReturn)
        const agentId = silent?.agent_id ?? newId(now.getTime())
        const row = {
          agentId,
          host: storedFacts(agentId, request.facts, ids).host,
          publicKey,
          keyAlgorithm: request.keyAlgorithm,
          machineIdHash,
          smbiosHash,
          now,
          tokenId: token.token_id,
          osId: mustExist(ids.get(texts.os), 'the id of an operating system'),
          versionId: mustExist(ids.get(texts.version), 'the id of a version'),
          agentless: false,
          commandKey: commandKey.number,
        }
        if (silent === undefined) await store.insertAgent(tx, row)
        else await store.replaceKey(tx, agentId, row)
        const stated = storedFacts(agentId, request.facts, ids)
        // Before its first connection, a host may not know its own address.
        const facts = stated.address === '' ? { ...stated, address: ip } : stated
        await agents.writeFacts(tx, [facts])
        if (token.hashtags.length > 0)
          await context.tags.tagAgents(tx, [agentId], await context.tags.ensureTags(tx, token.hashtags))
        const others = known.filter((host) => host.agent_id !== agentId)
        if (others.length > 0) await store.linkDuplicates(tx, [agentId, ...others.map((host) => host.agent_id)])
        const entity = `${facts.host} (${facts.address})`
        const hashtags = token.hashtags.join(',')
        await context.events.append(tx, [
          {
            kind: silent === undefined ? 'enrolled' : 'tookOver',
            agentId,
            entity,
            hashtags,
            details: `Token ${token.name}`,
          },
          ...duplicateEvents(
            { agentId, entity, hashtags },
            { machine_id_hash: machineIdHash, smbios_hash: smbiosHash },
            others,
          ),
        ])
        await audit.write(tx, actor, {
          action: silent === undefined ? 'agent.enrolled' : 'agent.taken_over',
          entity,
          details: `agent ${agentId}, token ${token.name}`,
          objects: [
            { kind: 'host', id: agentId, name: facts.host },
            { kind: 'token', name: token.name },
          ],
        })
        return { agentId, serverTime: now.toISOString(), tookOver: silent !== undefined, ...keys }
      })
    },
  }
}
