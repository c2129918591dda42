import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import {
  hostileTexts,
  hub,
  plainKeyboard,
  rubberDucky,
  storageStick,
  unifyingReceiver1207,
  webcam,
  yubiKey,
} from '@portcullis/domain/testing'
import type { DeviceReport, HostFacts } from '@portcullis/features/contract.ts'
import { vi } from 'vitest'
import { fromRoot } from '../../proof/kit/root.ts'
import { agentlessOf, failure, ok, success } from '../../server/test/agentless.ts'
import { append, startMail } from '../../server/test/alerts.ts'
import { liftGate } from '../../server/test/approvals.ts'
import { enrolmentToken } from '../../server/test/builders.ts'
import { nacHost, startNac } from '../../server/test/nac.ts'
import { person } from '../../server/test/people.ts'
import { reportsOf, scheduleInput } from '../../server/test/reports.ts'
import { rolloutsOf, take } from '../../server/test/rollouts.ts'

/** Offices with the same keyboard: enough hosts for statistics about uncommon and spoofed devices. */
const offices = 20
const keyboard = (more: object = {}) => plainKeyboard({ pid: 'FFF1', portPath: '1-1', ...more })
const id = (n: number): string => `0197a1b2-7c3d-7000-8000-${String(n).padStart(12, '0')}`

/** Runs a function with fixed numbers instead of random ones, because case numbers and hashes depend on host ids. */
const withoutChance = async <T>(run: () => Promise<T>): Promise<T> => {
  const { randomBytes } = crypto
  let n = 0
  const fixed = (size: number): Buffer => (size === 16 ? Buffer.alloc(16, ++n) : randomBytes(size))
  const chance = vi.spyOn(Math, 'random').mockReturnValue(0.5)
  Object.assign(crypto, { randomBytes: fixed })
  syncBuiltinESMExports()
  try {
    return await run()
  } finally {
    Object.assign(crypto, { randomBytes })
    syncBuiltinESMExports()
    chance.mockRestore()
  }
}

/**
 * Starts a server with a fleet that is the same in every run, except for random ids. Every list has rows, and some have
 * text that files and pages must encode. The time is that of the fake clock.
 */
export const startFleet = async () => {
  const nac = await startNac({ app: { consoleDir: fromRoot('build/console') } })
  const { t, post } = nac
  const call = async (path: string, body: unknown) => ok(await post(path, body))
  const later = (seconds: number): void => t.clock.advance(seconds * 1_000)
  await liftGate(t)
  const mail = await startMail(t)
  await call('generalconfig/SetServerDomainName', { SERVER_DOMAIN_NAME: 'https://portcullis.example' })
  for (const group of [1, 2, 3])
    await call('systemNotification/notifications/update', {
      id: group,
      channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } },
    })

  const token = await enrolmentToken(t, { name: 'office', hashtags: ['office'], expiresInHours: 48 })
  /** Enrols a host one second after the last one, so that the order of all lists is fixed. */
  const host = (hostname: string, n: number, devices: DeviceReport[], facts: Partial<HostFacts> = {}) => {
    later(1)
    const address = `10.1.0.${n}`
    return nacHost(t, {
      token,
      from: address,
      machineIdHash: String(n).padStart(64, '0'),
      devices,
      facts: {
        hostname,
        address,
        nics: [{ name: 'eth0', mac: `02:00:00:00:01:${String(n).padStart(2, '0')}`, addresses: [address], isUp: true }],
        ...facts,
      },
    })
  }
  const { desk, lab, odd } = await withoutChance(async () => {
    for (let n = 1; n <= offices; n++) await host(`office-${String(n).padStart(2, '0')}`, n, [keyboard()])
    const desk = await host('front-desk', 51, [
      keyboard(),
      storageStick({ portPath: '1-2' }),
      rubberDucky({ portPath: '2-1' }),
    ])
    const lab = await host('lab-1', 52, [
      keyboard({ interfaces: ['03:01:01', '03:00:00', 'ff:00:00'], maxPowerMa: 500 }),
      unifyingReceiver1207({ portPath: '1-2' }),
      webcam({ portPath: '1-3' }),
    ])
    const odd = await host(
      '=1+1 "ÄÖ", 日本;',
      53,
      [
        hub({ portPath: '1-1' }),
        yubiKey({ portPath: '1-1.1' }),
        storageStick({ portPath: '1-1.2', product: hostileTexts.formula, serial: hostileTexts.html }),
      ],
      { osName: 'Fedora_41 100%', agentVersion: '0.9.0', model: 'Kiosk 3000, "outdoor"' },
    )
    return { desk, lab, odd }
  })
  await call('generalconfig/addhashtags', {
    hashtags: ['lab', 'a "quoted" tag'],
    elementIds: [lab.agentId, odd.agentId],
    entityType: 'Agent',
  })

  // People, rules and grants.
  await person(t, { userName: 'mara', profile: 20 })
  await call('admin/apiTokens', { name: 'siem', userProfile: 30 })
  await call('policy/rules', { effect: 'deny', kinds: ['Mass Storage'], reason: 'no sticks; "quoted"' })
  await call('policy/rules', { effect: 'allow', vid: '413C', reason: '=keyboards' })
  await call('policy/rules', { effect: 'allow', vid: '046D', tag: 'lab', reason: 'receivers of the lab' })
  await call('policy/grants', {
    kinds: ['Video'],
    host: desk.agentId,
    reason: 'a call',
    expiresAt: new Date(t.clock.now() + 3_600_000).toISOString(),
  })

  // An armed host that blocks, holds and fails.
  await call('agents/bulk', { uuids: [lab.agentId], action: 'arm', reason: 'pilot' })
  await t.jobs.drain()
  await take(lab)
  later(1)
  await lab.plug({
    ...storageStick({ portPath: '1-4', serial: 'S-4' }),
    authorized: false,
    enforced: { effect: 'block', source: 'deny', ruleId: null, policyVersion: 1 },
  })
  const held = {
    ...{ id: id(1), portPath: '1-5', at: t.clock.now(), vid: '0BDA', pid: '8150', serial: '', name: 'USB hub' },
    mismatch: { bound: [{ interface: 0, claims: 'Hub' as const, driver: 'rtl8150' }] },
    fingerprint: 'a'.repeat(32),
  }
  await lab.checkIn({
    enforcement: { mode: 'Armed', policyVersion: 1, reason: '', held: [held] },
    errors: [{ at: t.clock.now(), code: 'read', message: 'it hurts, "here"' }],
  })
  await desk.unplug('1-2')
  await call('agents/bulk', { uuids: [desk.agentId], action: 'collectLogs', reason: 'slow' })
  await t.jobs.drain()

  // Hosts without an agent: polled, not polled, and from a feed.
  const agentless = agentlessOf(t)
  for (const [n, computerName] of ['polled-1.example.org', 'polled-2.example.org'].entries())
    ok(
      await agentless.post('connectiondetails', {
        ...{ computerName, userName: 'probe', platform: 'linux', password: 'p', hashtags: ['lab'] },
        hostKeyFingerprint: `SHA256:${(n === 0 ? 'a' : 'b').repeat(43)}`,
      }),
    )
  const worker = await agentless.registerWorker({ waits: true })
  await agentless.activate()
  later(1)
  const { polls } = await worker.lease(8)
  const results = polls.map((poll) =>
    poll.host.startsWith('polled-1') ? success(poll) : failure(poll, 'connection-refused', 'Connection refused'),
  )
  await withoutChance(() => worker.results(results))
  const feedToken = await call('admin/apiTokens', { name: 'collector', userProfile: 20, scopes: ['feeds:write'] })
  await call('ingest/feeds', { name: 'Collector', tokenId: feedToken.id })

  // Outputs: quarantines, a rollout, reports, and alerts with their mails.
  await nac.useIse()
  nac.seen(odd)
  await nac.ask([odd])
  await nac.run()
  const rollouts = rolloutsOf(t)
  const rollout = await rollouts.start({ rings: [{ name: 'offices', tags: ['office'] }], name: 'Arm the offices' })
  const reports = reportsOf(t)
  const report = await reports.add(scheduleInput({ name: 'Daily hosts', recipients: ['boss@example.org'] }))
  await reports.runNow(report.id)
  await append(t, { kind: 'degraded', agentId: null, entity: 'mail', hashtags: '', details: 'slow' })
  await t.alerts.watch.uncommon()
  await t.alerts.watch.violations()
  later(91)
  await t.alerts.watch.violations()
  await t.alerts.run()
  await t.deliveries.deliver()
  await t.jobs.drain()
  later(120)

  return {
    t,
    desk,
    rolloutId: rollout.id,
    reportId: report.id,
    close: async (): Promise<void> => {
      await nac.close()
      await mail.close()
    },
  }
}
