import { mustExist } from '@portcullis/domain'
import { AppError, invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import { type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh, assertSession, isFresh } from '@portcullis/platform/server/http/fresh.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import type { AuditFacts } from '#features/audit/server/index.ts'
import {
  type addConnections,
  type BodyOf,
  type BulkResult,
  type Connection,
  type ConnectionInput,
  type confirmHostKeys,
  profiles,
  type ResponseOf,
  type updateConnection,
} from '#features/contract.ts'
import { assertConnection, nameKey, overrides, secretsOf } from './connection.rules.ts'
import { createConnectionsRead } from './connections.read.ts'
import { type ConnectionRow, createConnectionsStore, isKeyConfirmed } from './connections.store.ts'
import type { AgentlessContext } from './context.ts'
import { readHostKeys } from './host-keys.ts'
import { keptSecrets, sealed } from './secrets.ts'

export interface HostTags {
  agentId: string
  names: readonly string[]
}

type ConfirmedKeys = ResponseOf<typeof confirmHostKeys>

/** Associated data (AAD) of the sealed secrets of a connection. */
export const aadOf = (connectionId: string): string => `connection ${connectionId}`

const noSecrets = { password: null, private_key: null, passphrase: null }
const plural = (n: number): string => `${n} ${n === 1 ? 'connection' : 'connections'}`
/** Returns a number after a change: 0 removes it, an absent or null value keeps it. */
const asGiven = (given: number | null | undefined, before: number | null): number | null =>
  given === 0 ? null : (given ?? before)
/** Lists names for an audit record. Beyond 50 names, it only counts them. */
export const namesIn = (names: readonly string[]): string =>
  names.slice(0, 50).join(', ') + (names.length > 50 ? ` and ${names.length - 50} more` : '')

/** Requires an Administrator to confirm a computer. */
const assertMayConfirm = (actor: Actor, input: Partial<ConnectionInput>, now: number): void => {
  if (input.isConfirmed !== true) return
  if (isAdministrator(actor)) assertFresh(actor, now)
  else
    throw new AppError('forbidden_object', {
      detail: 'Only an Administrator can confirm that the default password may be sent to a computer.',
    })
}

const isAdministrator = (actor: Actor): boolean => actor.profile === profiles.administrator

/**
 * Returns whether the actor may confirm computers. A stolen token or stale session must not direct the default password
 * to a computer.
 */
const mayConfirm = (actor: Actor, now: number): boolean =>
  isAdministrator(actor) && (actor.kind === 'system' || isFresh(actor, now))

/**
 * Returns whether the actor may confirm the host key of a connection. A key of a host that uses the default credentials
 * needs an Administrator. A stolen API token must not direct a stored password to a host.
 */
const mayConfirmKey = (actor: Actor, row: ConnectionRow, now: number, bringsPassword: boolean): boolean =>
  row.is_override ? actor.kind !== 'apiToken' || bringsPassword : mayConfirm(actor, now)

/** Returns whether stored secrets would be sent to another destination. */
const isElsewhere = (row: ConnectionRow, next: ConnectionRow): boolean =>
  row.name_key !== next.name_key || row.port !== next.port || row.host_key !== next.host_key

/**
 * Returns whether a confirmation covers no longer what it was given for. One that was given for own credentials says
 * nothing about the default ones.
 */
const isRedirected = (row: ConnectionRow, next: ConnectionRow): boolean =>
  isElsewhere(row, next) || (row.is_override && !next.is_override)

/** Adds, changes and removes connections. */
export const createConnections = ({ db, clock, envelope, agents, tags, audit }: AgentlessContext) => {
  const store = createConnectionsStore()
  const { one: shown } = createConnectionsRead(db)
  /** Returns the confirmed host key after a change. Entering a key confirms it, if permitted. */
  function confirmedKey(
    actor: Actor,
    row: ConnectionRow,
    next: ConnectionRow,
    input: Partial<ConnectionInput>,
  ): string {
    const isGiven = (input.hostKeyFingerprint ?? '') !== ''
    if (isGiven && mayConfirmKey(actor, next, clock.now(), (input.password ?? '') !== '')) return next.host_key
    return isKeyConfirmed(row) && !isRedirected(row, next) ? row.confirmed_host_key : ''
  }

  function fresh(actor: Actor, input: ConnectionInput): ConnectionRow {
    assertMayConfirm(actor, input, clock.now())
    const connectionId = newId(clock.now())
    const row: ConnectionRow = {
      connection_id: connectionId,
      computer_name: input.computerName.trim(),
      name_key: nameKey(input.computerName),
      port: asGiven(input.port, null),
      platform: input.platform ?? 'auto',
      user_name: input.userName ?? '',
      ...sealed(envelope, aadOf(connectionId), secretsOf(input), null),
      host_key: input.hostKeyFingerprint ?? '',
      confirmed_host_key: '',
      interval_minutes: asGiven(input.intervalMinutes, null),
      is_override: overrides(input) ?? false,
      tags: (input.hashtags ?? []).map((tag) => tag.trim()),
      is_registered: true,
      is_confirmed: mayConfirm(actor, clock.now()) && input.isConfirmed !== false,
      agent_id: null,
    }
    return { ...row, confirmed_host_key: confirmedKey(actor, row, row, input) }
  }

  /** Returns the row after a change. The caller has checked whether stored secrets may stay. */
  function changed(actor: Actor, row: ConnectionRow, input: Partial<ConnectionInput>, name: string): ConnectionRow {
    assertMayConfirm(actor, input, clock.now())
    const isOverride = overrides(input) ?? row.is_override
    const given = secretsOf(input)
    const next = {
      ...row,
      computer_name: name,
      name_key: nameKey(name),
      port: asGiven(input.port, row.port),
      platform: input.platform ?? row.platform,
      user_name: isOverride ? (input.userName ?? row.user_name) : '',
      ...(isOverride ? sealed(envelope, aadOf(row.connection_id), given, row) : noSecrets),
      host_key: input.hostKeyFingerprint ?? row.host_key,
      interval_minutes: isOverride ? asGiven(input.intervalMinutes, row.interval_minutes) : null,
      is_override: isOverride,
      tags: input.hashtags?.map((tag) => tag.trim()) ?? row.tags,
    }
    const stays = row.is_confirmed && (mayConfirm(actor, clock.now()) || !isRedirected(row, next))
    return {
      ...next,
      confirmed_host_key: confirmedKey(actor, row, next, input),
      is_confirmed: input.isConfirmed ?? stays,
    }
  }

  /**
   * Requires stored secrets again if the name, the port or the pinned key changes, because they would be sent to
   * another destination.
   */
  function assertSecretsMayStay(
    row: ConnectionRow,
    next: ConnectionRow,
    input: Partial<ConnectionInput>,
    field: string,
  ) {
    const kept = next.is_override ? keptSecrets(secretsOf(input), row) : []
    if (isElsewhere(row, next) && kept.length > 0)
      throw invalid(`${field}.${kept[0]}`, 'is required again, because the name, port or host key changes')
  }

  /** Stores a changed connection. Returns the tags of its host, which the caller sets. */
  async function write(tx: Tx, row: ConnectionRow, next: ConnectionRow): Promise<HostTags[]> {
    const now = new Date(clock.now())
    await tags.ensureTags(tx, next.tags)
    await store.update(tx, now, next)
    await store.startOver(tx, now, [row.connection_id])
    return row.agent_id !== null && next.tags !== row.tags ? [{ agentId: row.agent_id, names: next.tags }] : []
  }

  const connectionsOf = (names: readonly string[]): AuditFacts => ({
    count: names.length,
    objects: names.map((name) => ({ kind: 'connection', name })),
  })

  const overNames = (
    names: readonly string[],
    actor: Actor,
    action: 'deleted' | 'registered' | 'unregistered',
    work: (tx: Tx, rows: readonly ConnectionRow[]) => Promise<void>,
  ): Promise<BulkResult> =>
    transactionAgain(db, async (tx) => {
      const asked = [...new Map(names.map((name) => [nameKey(name), name.trim()])).entries()]
      const rows = await store.lockByKeys(
        tx,
        asked.map(([key]) => key),
      )
      const found = new Set(rows.map((row) => row.name_key))
      if (rows.length > 0) {
        await work(tx, rows)
        await audit.write(tx, actor, {
          action: `connection.${action}`,
          entity: plural(rows.length),
          details: namesIn(rows.map((row) => row.computer_name)),
          ...connectionsOf(rows.map((row) => row.computer_name)),
        })
      }
      return {
        accepted: asked.filter(([key]) => found.has(key)).map(([, name]) => name),
        notFound: asked.filter(([key]) => !found.has(key)).map(([, name]) => name),
      }
    })

  return {
    fresh,
    changed,
    assertSecretsMayStay,
    write,

    add: (actor: Actor, body: BodyOf<typeof addConnections>): Promise<ResponseOf<typeof addConnections>> => {
      const { connections, ...single } = body
      const isMany = connections !== undefined
      if (isMany && Object.keys(single).length > 0)
        throw invalid('body', 'must contain either one connection or only connections')
      const inputs = connections ?? [single as ConnectionInput]
      for (const [i, input] of inputs.entries()) assertConnection(input, isMany ? `body.connections[${i}]` : 'body')
      const keys = new Map<string, number>()
      for (const [i, input] of inputs.entries()) {
        const key = nameKey(input.computerName)
        if (keys.has(key))
          throw invalid(`body.connections[${i}].computerName`, `is a duplicate of connections[${keys.get(key)}]`)
        keys.set(key, i)
      }
      return transactionAgain(db, async (tx) => {
        await tags.ensureTags(tx, [...new Set(inputs.flatMap((input) => input.hashtags ?? []))])
        const added = new Set(
          await store.insert(
            tx,
            new Date(clock.now()),
            inputs.map((input) => fresh(actor, input)),
          ),
        )
        const existing = inputs.filter((input) => !added.has(nameKey(input.computerName)))
        if (!isMany && existing.length > 0)
          throw new AppError('conflict', { detail: `A connection to ${existing[0]?.computerName} already exists.` })
        if (added.size > 0)
          await audit.write(tx, actor, {
            action: 'connection.added',
            entity: plural(added.size),
            details: `${namesIn([...added])}${inputs.some((input) => overrides(input) !== true) ? '; with the default credentials' : ''}`,
            ...connectionsOf([...added]),
          })
        return { added: added.size, existing: existing.map((input) => input.computerName) }
      })
    },

    change: async (actor: Actor, body: BodyOf<typeof updateConnection>): Promise<Connection> => {
      const { newComputerName, ...input } = body
      const name = (newComputerName ?? input.computerName).trim()
      assertConnection({ ...input, computerName: name }, 'body')
      return tags.settle<Connection>(
        actor,
        await transactionAgain(db, async (tx) => {
          const key = nameKey(input.computerName)
          const rows = await store.lockByKeys(tx, [key, nameKey(name)])
          const row = rows.find((one) => one.name_key === key)
          if (row === undefined) throw notFound(`No connection to ${input.computerName} exists.`)
          if (rows.length > 1) throw new AppError('conflict', { detail: `A connection to ${name} already exists.` })
          const next = changed(
            actor,
            row,
            input,
            newComputerName === undefined || newComputerName === null ? row.computer_name : name,
          )
          assertSecretsMayStay(row, next, input, 'body')
          const waits = await tags.setAgentTags(tx, actor, await write(tx, row, next))
          if (waits !== null) return waits
          const what = Object.keys(input).filter(
            (member) => member !== 'computerName' && input[member as keyof typeof input] !== null,
          )
          await audit.write(tx, actor, {
            action: 'connection.changed',
            entity: row.computer_name,
            // Records the names of members, never their values, because some are secrets.
            details: `${next.computer_name === row.computer_name ? '' : `renamed to ${next.computer_name}; `}${what.join(', ')}`,
            severity: 4,
          })
          return shown(tx, next.name_key)
        }),
      )
    },

    /** Confirms keys that a person compared. A computer that presented another key stays unchanged. */
    confirmKeys: (actor: Actor, { hosts, list }: BodyOf<typeof confirmHostKeys>): Promise<ConfirmedKeys> => {
      if ((hosts === undefined) === (list === undefined)) throw invalid('body', 'must contain either hosts or list')
      const { keys, unreadable } =
        list === undefined
          ? {
              keys: new Map((hosts ?? []).map((one) => [nameKey(one.computerName), new Set([one.hostKeyFingerprint])])),
              unreadable: [],
            }
          : readHostKeys(list)
      return transactionAgain(db, async (tx) => {
        const rows = (await store.lockByKeys(tx, [...keys.keys()])).filter((row) => !isKeyConfirmed(row))
        const answer: ConfirmedKeys = {
          confirmed: [],
          different: [],
          notShown: [],
          unknown: keys.size - rows.length,
          unreadableLines: unreadable.slice(0, 100),
        }
        for (const row of rows) {
          const given = mustExist(keys.get(row.name_key), 'the key of a host')
          const shown = row.host_key === '' ? (row.shown_host_key ?? '') : row.host_key
          // A fingerprint for a named host is confirmed even before the first contact. A list confirms only presented
          // keys.
          const key = shown === '' && list === undefined ? [...given][0] : shown
          if (key === undefined || key === '') answer.notShown.push(row.computer_name)
          else if (!given.has(key)) answer.different.push({ computerName: row.computer_name, shown: key })
          else {
            if (!row.is_override && !isAdministrator(actor))
              throw new AppError('forbidden_object', {
                detail: `${row.computer_name} uses the default credentials, so only an Administrator can confirm its host key.`,
              })
            if (row.is_override) assertSession(actor)
            else assertFresh(actor, clock.now())
            await write(tx, row, { ...row, host_key: key, confirmed_host_key: key })
            answer.confirmed.push(row.computer_name)
          }
        }
        if (answer.confirmed.length > 0)
          await audit.write(tx, actor, {
            action: 'connection.host_key_confirmed',
            entity: plural(answer.confirmed.length),
            details: namesIn(answer.confirmed),
            ...connectionsOf(answer.confirmed),
            severity: 4,
          })
        return answer
      })
    },

    remove: (actor: Actor, names: readonly string[]): Promise<BulkResult> =>
      overNames(names, actor, 'deleted', async (tx, rows) => {
        const left = await store.remove(
          tx,
          rows.map((row) => row.connection_id),
        )
        // The search for disconnected hosts starts from connections, so it would not find these hosts.
        await agents.disconnectPolled(tx, left)
      }),

    register: (actor: Actor, names: readonly string[], isRegistered: boolean): Promise<BulkResult> =>
      overNames(names, actor, isRegistered ? 'registered' : 'unregistered', async (tx, rows) => {
        const ids = rows.map((row) => row.connection_id)
        await store.setRegistered(tx, ids, isRegistered)
        await store.startOver(tx, new Date(clock.now()), ids)
      }),
  }
}

export type Connections = ReturnType<typeof createConnections>
