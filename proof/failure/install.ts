/** Runs the packages of server and agent in Debian systems that boot with their systemd. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addEarlier, purgeAll, rollBack, runEarlier, upgradeEarlier } from '../../e2e/installed/earlier.ts'
import { bootDebian, createMachineRoot, whyNoMachine } from '../../e2e/installed/machine.ts'
import { buildDebs, type Debs } from '../../e2e/installed/packages.ts'
import { servicesOf, UNITS } from '../../e2e/installed/under-systemd.ts'
import { eventually } from '../../e2e/kernel/vm.ts'
import type { DebianRoot, Suite } from '../../scripts/release/debian-root.ts'
import { previousRelease } from '../kit/other-release.ts'
import type { Check, Finding, Outcome } from '../kit/verdict.ts'

/** Boots the system and checks both services. In the short form, only the agent is killed. */
const checkServices = async (suite: Suite, root: DebianRoot, isQuick: boolean): Promise<Finding[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-machine-'))
  const vm = await bootDebian(root, folder)
  try {
    const services = servicesOf(vm)
    const activeAfter = await services.bothActive()
    const readyMs = await services.ready()
    const token = await services.signIn()
    let stayedDown = 0
    const kill = async (unit: (typeof UNITS)[number]): Promise<void> => {
      await vm.run(`systemctl kill --kill-whom=main --signal=KILL ${unit}`)
      if (!(await services.restarted(unit))) stayedDown += 1
    }
    const before = await services.lastCheckIn(token)
    if (!isQuick) {
      await kill('portcullis.service')
      await services.ready()
    }
    await kill('portcullis-agent.service')
    const checkedIn = await eventually(
      'the agent checks in',
      async () => (await services.lastCheckIn(token)) > before,
      200_000,
    ).then(
      () => 1,
      () => 0,
    )
    const [server, agent] = UNITS
    return [
      { what: `${suite}: exposure of the server`, value: await services.exposure(server), atMost: 1.5 },
      { what: `${suite}: exposure of the agent`, value: await services.exposure(agent), atMost: 2.5 },
      { what: `${suite}: complaints about the units`, value: await services.complaints(), atMost: 0 },
      { what: `${suite}: errors in the journal`, value: await services.errors(), atMost: 0 },
      { what: `${suite}: killed units that stay down`, value: stayedDown, atMost: 0 },
      { what: `${suite}: the agent checks in`, value: checkedIn, atLeast: 1 },
      { what: `${suite}: units that fail to stop`, value: await services.failedStops(), atMost: 0 },
      { what: `${suite}: both units active after`, value: activeAfter, unit: 's' },
      { what: `${suite}: server ready after`, value: Math.round(activeAfter + readyMs / 1000), unit: 's' },
    ]
  } finally {
    await vm.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Upgrades the earlier release by the packages, boots the result, goes back and purges. */
const upgradeAndPurge = async (suite: Suite, earlier: string, debs: Debs, isQuick: boolean): Promise<Outcome> => {
  const root = createMachineRoot(suite)
  try {
    const before = root.paths()
    addEarlier(root, earlier, debs.server)
    const hosts = [...runEarlier(root), ...upgradeEarlier(root, debs)]
    const services = await checkServices(suite, root, isQuick)
    hosts.push(...rollBack(root))
    const left = purgeAll(root, before)
    const [enrolled] = hosts
    const kept = hosts.filter(([id]) => id !== '' && id === enrolled?.[0])
    const versions = hosts.map(([, version]) => version)
    const isLater = hosts.filter(([, , time], index) => index > 0 && time > (hosts[index - 1]?.[2] ?? ''))
    return {
      findings: [
        { what: `${suite}: check-ins that kept the identity of the host`, value: kept.length, atLeast: 5 },
        { what: `${suite}: check-ins after upgrade and way back`, value: isLater.length, atLeast: 4 },
        { what: `${suite}: versions of the agent`, value: new Set(versions).size, atLeast: 2 },
        ...services,
        { what: `${suite}: paths left after the purge`, value: left.length, atMost: 0 },
      ],
      notes: [`${suite}: agents ${versions.join(', ')}`, ...left.slice(0, 20)],
    }
  } finally {
    root.remove()
  }
}

export const install: Check = {
  name: 'install',
  what: 'An earlier release runs from a checkout in Debian 12 and 13 (12 in the short form). The packages are installed over it: its agent checks in at the new server, and the agent of the package keeps the identity of the host. The system boots with its systemd in an emulated machine: both units run, survive SIGKILL and stop, the agent checks in, and systemd finds nothing to complain about. Then the earlier release runs again, on the upgraded data and on its backup. A purge leaves nothing.',
  run: async ({ isQuick, root, from }): Promise<Outcome> => {
    const earlier = from ?? previousRelease()
    const whyNot = whyNoMachine() ?? (earlier === undefined ? 'the Git history lacks the earlier release' : null)
    if (whyNot !== null || earlier === undefined) return { findings: [], notRun: [`install: ${whyNot}`] }
    const debs = await buildDebs(root)
    const findings: Finding[] = []
    const notes = [`from ${earlier}`, 'Times are those of emulated processors.']
    try {
      for (const suite of isQuick ? (['bookworm'] as const) : (['bookworm', 'trixie'] as const)) {
        const one = await upgradeAndPurge(suite, earlier, debs, isQuick)
        findings.push(...one.findings)
        notes.push(...(one.notes ?? []))
      }
      return { findings, notes }
    } finally {
      debs.remove()
    }
  },
}
