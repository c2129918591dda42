import { isIP } from 'node:net'
import { cleanText } from '@portcullis/domain'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { type NacSystem, nacSystems, type QuarantineState, type QuarantineStepName } from '#features/contract.ts'
import type { QuarantineContext } from './context.ts'
import { NacFault } from './fault.ts'
import { type Connection, createNacStore, type QuarantineRow } from './nac.store.ts'
import { entityOf, type Quarantines } from './quarantines.service.ts'
import type { NacPeer, Systems } from './systems.ts'

/** Renewed by each request, so it is longer than one request and its turn in a busy queue. */
const leaseMs = 60_000
const atOnce = 8
/** Reads after applying or clearing, 2 to 32 seconds apart, before the change counts as without effect. */
const maxReads = 6
const readDelayMs = (attempt: number): number => 1_000 * 2 ** attempt
/**
 * Attempts of an automatic quarantine with the same setup fault before it fails: four hours with the back-off. A
 * certificate or password is corrected within a shift, or not at all.
 */
const setupTries = 54
const backOffMs = (attempt: number): number => Math.min(300_000, 5_000 * 2 ** Math.min(attempt, 10))

/** Retries of a failed lookup of an address before a person is asked. */
const confirmTries = 3
/** Time during which an address that another host connected from counts as that of a proxy or router. */
const sharedMs = 24 * 3_600_000

/** Returns why the connection of a host does not show its own address; null: it does. */
const doubtAbout = (connection: Connection | undefined): string | null => {
  if (connection === undefined || connection.address === '')
    return 'This server has no connection from the host that would show its address.'
  const { address, connected, other } = connection
  if (!connected) return 'The host is disconnected, so its address may belong to another machine now.'
  if (isIP(address) !== 4)
    return `The host connects from ${address}. Cisco ISE and CounterACT find machines by IPv4 address only.`
  return other === null ? null : `${other} connects from ${address}, too: it may be the address of a proxy or router.`
}

/** The quarantine was applied at one address, and the settings now name another system. */
class Moved extends NacFault {
  constructor({ place, targets }: QuarantineRow, now: string) {
    super(
      'refused',
      'answer',
      `It was applied at ${place}, but the settings now name ${now}, which does not have it. Clear ${targets.join(', ')} at ${place} by hand and then clear it here again, or enter the previous address.`,
    )
  }
}

/** Somebody else changed or took over the quarantine: this run sends and writes nothing more. */
class Lost extends Error {}

interface Change {
  state: QuarantineState
  step?: readonly [QuarantineStepName, string]
  isOk?: boolean
  event?: readonly ['quarantined' | 'quarantineCleared' | 'quarantineFailed' | 'quarantineWaiting', string]
  targets?: readonly string[]
  unconfirmed?: readonly string[]
  place?: string
  isMoved?: boolean
  error?: string
  attempts?: number
  nextAt?: Date | null
}

const product = systemActor('nac')

const hasMoved = ({ targets, place }: QuarantineRow, peer: NacPeer): boolean =>
  targets.length > 0 && place !== '' && place !== peer.place

/** Carries out quarantines: one at a time per host and system, verified by reading back, and resumed after a crash. */
export const createRunner = (context: QuarantineContext, systems: Systems, quarantines: Quarantines) => {
  const { db, clock, log, audit, settings, announce } = context
  const store = createNacStore()

  /** Saves a new state of a quarantine with its timeline entry. */
  async function become(row: QuarantineRow, change: Change): Promise<void> {
    const now = new Date(clock.now())
    const to = {
      state: change.state,
      targets: change.targets ?? row.targets,
      unconfirmed: change.unconfirmed ?? row.unconfirmed,
      place: change.place ?? row.place,
      is_moved: change.isMoved ?? false,
      error: change.error ?? '',
      attempts: change.attempts ?? 0,
      nextAt: change.nextAt ?? null,
    }
    await db.transaction(async (tx) => {
      if (!(await store.advance(tx, row, now, to))) throw new Lost()
      if (change.step !== undefined) {
        const [step, message] = change.step
        await store.addSteps(tx, [
          quarantines.stepOf(row.quarantine_id, { userName: 'system' }, step, message, change.isOk ?? true),
        ])
      }
      await announce(tx, { agents: [row.agent_id] })
      if (change.event === undefined) return
      const [kind, details] = change.event
      await quarantines.appendEvents(tx, [await quarantines.eventOf(tx, row, kind, details)])
      await audit.write(tx, product, {
        action: `nac.${kind}`,
        entity: entityOf(row),
        objects: [{ kind: 'host', id: row.agent_id, name: row.host }],
        details: `${row.system}: ${details}`,
        severity: 4,
        outcome: kind === 'quarantineFailed' ? 'failure' : 'success',
      })
    })
    Object.assign(row, { ...to, targets: [...to.targets], unconfirmed: [...to.unconfirmed] })
  }

  /** Adds a timeline entry without a change of state. */
  const remark = (row: QuarantineRow, message: string, isOk: boolean): Promise<void> =>
    db.transaction(async (tx) => {
      await store.addSteps(tx, [
        quarantines.stepOf(row.quarantine_id, { userName: 'system' }, 'attributes', message, isOk),
      ])
      await announce(tx, { agents: [row.agent_id] })
    })

  /** Writes custom attributes to the system. The quarantine does not depend on them. */
  async function annotate(row: QuarantineRow, peer: NacPeer, state: 'quarantined' | 'cleared'): Promise<void> {
    try {
      const until = state === 'cleared' ? '' : (row.expires_at?.toISOString() ?? '')
      const note = await peer.annotate(row.targets, { state, reason: cleanText(row.reason, 100), until })
      if (note !== null) await remark(row, note, true)
    } catch (error) {
      if (!(error instanceof NacFault)) throw error
      await remark(
        row,
        `Custom attributes were not set: ${cleanText(error.message, 300)} To use them, define PortcullisState, PortcullisReason and PortcullisUntil (String) in ISE.`,
        false,
      )
    }
  }

  const later = (milliseconds: number): Date => new Date(clock.now() + milliseconds)

  const spared = (macs: readonly string[]): NacFault =>
    new NacFault('refused', 'answer', `The settings exclude ${macs.join(', ')} from quarantine. Clear this quarantine.`)

  /** Returns why the system does not confirm each of these addresses. Addresses that it sees at the host are absent. */
  async function doubts(row: QuarantineRow, peer: NacPeer, macs: readonly string[]): Promise<Map<string, string>> {
    const connection = await store.connection(db, row.agent_id, later(-sharedMs))
    const doubt = doubtAbout(connection)
    const found = new Map<string, string>()
    for (const mac of macs) {
      const why =
        doubt ??
        (await peer.doubt(mac, connection?.address ?? '').catch((error: unknown) => {
          if (!(error instanceof NacFault) || (error.kind === 'away' && row.attempts < confirmTries)) throw error
          return error.message
        }))
      if (why !== null) found.set(mac, why)
    }
    return found
  }

  /**
   * Returns the addresses that may be quarantined now. Others await approval, unless a person decided already: a hostile
   * host can report the addresses of other machines.
   */
  async function confirm(row: QuarantineRow, peer: NacPeer, macs: readonly string[]): Promise<readonly string[]> {
    if (row.is_approved) return macs
    const found = await doubts(row, peer, macs)
    const unconfirmed = [...found.keys()]
    if (unconfirmed.length === 0 && row.unconfirmed.length === 0) return macs
    const isWhole = unconfirmed.length === macs.length
    // After an interruption, the same addresses await approval already.
    if (isWhole || unconfirmed.join() !== row.unconfirmed.join()) {
      const why = [...new Set(found.values())].join(' ')
      await become(row, {
        state: isWhole ? 'waiting' : 'wanted',
        unconfirmed: isWhole ? [] : unconfirmed,
        nextAt: isWhole ? null : later(0),
        ...(why === ''
          ? {}
          : { step: ['waiting', why], isOk: false, event: ['quarantineWaiting', `${row.reason} ${why}`] }),
      })
    }
    return macs.filter((mac) => !found.has(mac))
  }

  async function apply(row: QuarantineRow, peer: NacPeer): Promise<void> {
    let seen: Map<string, string> | null = null
    if (row.state === 'wanted') {
      await peer.assertPolicy(row.policy)
      const allowed = row.macs.filter((mac) => !peer.never.has(mac))
      if (allowed.length === 0) throw spared(row.macs)
      const confirmed = await confirm(row, peer, allowed)
      if (confirmed.length === 0) return
      const macs = await peer.reachable(confirmed)
      const there = await peer.quarantined(macs)
      seen = there
      for (const [mac, policy] of there)
        if (policy !== row.policy)
          throw new NacFault(
            'refused',
            'answer',
            `${mac} already has the policy ${policy} there. Clear that policy first, or keep it.`,
          )
      const targets = [...new Set([...row.targets, ...macs.filter((mac) => !there.has(mac))])]
      if (targets.length === 0)
        return become(row, {
          state: 'verified',
          step: ['verified', 'It was already quarantined there, not by this server. This server will not clear it.'],
          event: ['quarantined', 'was already quarantined there'],
        })
      await become(row, {
        state: 'applying',
        targets,
        step: ['applying', `${row.policy} for ${targets.join(', ')}.`],
        nextAt: later(0),
      })
    }
    if (row.state === 'applying') {
      // After a crash, some addresses may be done already: each is requested once.
      const there = seen ?? (await peer.quarantined(row.targets))
      const absent = row.targets.filter((mac) => !there.has(mac))
      const never = absent.filter((mac) => peer.never.has(mac))
      if (never.length > 0) throw spared(never)
      for (const mac of absent) {
        await peer.apply(mac, row.policy)
        // Saved with the first accepted request: from now on there is something to clear at this address.
        if (row.place !== peer.place)
          await become(row, { state: 'applying', place: peer.place, attempts: row.attempts, nextAt: later(0) })
      }
      await become(row, {
        state: 'applied',
        step: ['applied', `${peer.place} accepted the request.`],
        nextAt: later(0),
      })
    }
    const there = await peer.quarantined(row.targets)
    const missing = row.targets.filter((mac) => there.get(mac) !== row.policy)
    if (missing.length === 0) {
      await become(row, {
        state: 'verified',
        step: ['verified', `Read back: ${row.policy} is in force for ${row.targets.join(', ')}.`],
        event: ['quarantined', `${row.policy} for ${row.targets.join(', ')}: ${row.reason}`],
      })
      return annotate(row, peer, 'quarantined')
    }
    if (row.attempts + 1 >= maxReads)
      throw new NacFault(
        'refused',
        'answer',
        `The request was accepted, but ${missing.join(', ')} does not show as quarantined. Check that system's log for the address.`,
      )
    const attempts = row.attempts + 1
    await become(row, { state: 'applied', attempts, nextAt: later(readDelayMs(attempts)) })
  }

  async function clear(row: QuarantineRow, peer: NacPeer): Promise<void> {
    async function ours(): Promise<string[]> {
      const there = await peer.quarantined(row.targets)
      return row.targets.filter((mac) => there.get(mac) === row.policy)
    }
    const before = await ours()
    // The same system under another name has the quarantine and gets the request.
    if (before.length === 0 && hasMoved(row, peer)) throw new Moved(row, peer.place)
    for (const mac of before) await peer.clear(mac, row.policy)
    const still = before.length === 0 ? [] : await ours()
    if (still.length === 0) {
      await become(row, {
        state: 'cleared',
        step: [
          'cleared',
          before.length === 0 ? 'Read back: it was already cleared there.' : 'Read back: it is no longer in force.',
        ],
        event: ['quarantineCleared', row.targets.join(', ')],
      })
      return annotate(row, peer, 'cleared')
    }
    const attempts = row.attempts + 1
    if (attempts >= maxReads)
      throw new NacFault('refused', 'answer', `${still.join(', ')} still shows as quarantined. Clear it there by hand.`)
    await become(row, { state: 'clearing', attempts, nextAt: later(readDelayMs(attempts)) })
  }

  async function setback(row: QuarantineRow, fault: NacFault): Promise<void> {
    const message = cleanText(fault.message, 500)
    // Clearing is never given up: the host would stay off the network forever.
    const isSetup = fault.kind === 'setup' && row.is_automatic && row.state !== 'clearing'
    // Attempts that failed for another reason, such as an outage, use up at most half of the attempts.
    const tries = isSetup && row.error !== message ? Math.min(row.attempts + 1, setupTries / 2) : row.attempts + 1
    if (row.state === 'clearing' || fault.kind === 'away' || (isSetup && tries < setupTries)) {
      const isNew = row.error === ''
      return become(row, {
        state: row.state,
        error: message,
        attempts: tries,
        isMoved: row.state === 'clearing' && fault instanceof Moved,
        nextAt: later(backOffMs(tries - 1)),
        isOk: false,
        ...(isNew ? { step: ['delayed', message] as const } : {}),
        ...(isNew && fault.kind !== 'away' ? { event: ['quarantineFailed', message] as const } : {}),
      })
    }
    return become(row, {
      state: 'failed',
      error: message,
      step: ['failed', message],
      isOk: false,
      event: ['quarantineFailed', message],
    })
  }

  async function attempt(row: QuarantineRow, before: () => Promise<void>): Promise<void> {
    try {
      const peer = await systems.open(row.system, row.policy, { before })
      await (row.state === 'clearing' ? clear(row, peer) : apply(row, peer))
      await settings.noteUse(row.system, null)
    } catch (error) {
      if (error instanceof Lost) return
      const fault =
        error instanceof NacFault ? error : new NacFault('away', 'answer', 'Internal error. See the server log.')
      if (fault !== error) log.error({ err: error, quarantine: row.quarantine_id }, 'cannot carry out a quarantine')
      if (fault.kind !== 'refused') await settings.noteUse(row.system, fault.message)
      await setback(row, fault)
    }
  }

  async function work(row: QuarantineRow): Promise<void> {
    try {
      await attempt(row, async () => {
        if (!(await store.keep(db, row, new Date(clock.now() + leaseMs)))) throw new Lost()
      })
    } catch (error) {
      if (!(error instanceof Lost)) {
        // A failure to save keeps the lease, so the quarantine is not due before the lease ends.
        log.error({ err: error, quarantine: row.quarantine_id }, 'cannot save a quarantine')
        return
      }
    }
    await store.release(db, row)
  }

  async function runSystem(system: NacSystem): Promise<void> {
    for (;;) {
      const now = clock.now()
      const rows = await store.lease(db, system, new Date(now), new Date(now + leaseMs), atOnce)
      if (rows.length === 0) return
      await Promise.all(rows.map(work))
    }
  }

  const running = new Map<NacSystem, Promise<void>>()
  const again = new Set<NacSystem>()
  function start(system: NacSystem): Promise<void> {
    const now = running.get(system)
    if (now !== undefined) {
      // Covers what was saved after the last query.
      again.add(system)
      return now
    }
    async function loop(): Promise<void> {
      try {
        do {
          again.delete(system)
          await runSystem(system)
        } while (again.has(system))
      } finally {
        running.delete(system)
      }
    }
    const mine = loop()
    running.set(system, mine)
    return mine
  }

  /** Runs everything that is due, in parallel per system, so that a slow one does not delay the other. */
  return async (): Promise<void> => {
    await Promise.all(nacSystems.map(start))
  }
}
