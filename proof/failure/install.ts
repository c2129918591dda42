/** Runs the packages of server and agent in Debian systems that boot with their systemd. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DebianRoot, Suite } from '../../scripts/release/debian-root.ts'
import { addEarlier, purgeAll, rollBack, runEarlier, upgradeEarlier } from '../kit/installed/earlier.ts'
import { bootDebian, createMachineRoot, whyNoMachine } from '../kit/installed/machine.ts'
import { buildDebs, type Debs } from '../kit/installed/packages.ts'
import { servicesOf, UNITS } from '../kit/installed/under-systemd.ts'
import { eventually } from '../kit/kernel/vm.ts'
import { previousRelease } from '../kit/other-release.ts'
import { atLeast, atMost, type Check, type Finding, figure, type Outcome } from '../kit/verdict.ts'

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
      atMost(`${suite}: exposure of the server`, await services.exposure(server), 1.5),
      atMost(`${suite}: exposure of the agent`, await services.exposure(agent), 2.5),
      atMost(`${suite}: complaints about the units`, await services.complaints(), 0),
      atMost(`${suite}: errors in the journal`, await services.errors(), 0),
      atMost(`${suite}: killed units that stay down`, stayedDown, 0),
      atLeast(`${suite}: the agent checks in`, checkedIn, 1),
      atMost(`${suite}: units that fail to stop`, await services.failedStops(), 0),
      figure(`${suite}: both units active after`, activeAfter, 's'),
      figure(`${suite}: server ready after`, Math.round(activeAfter + readyMs / 1000), 's'),
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
        atLeast(`${suite}: check-ins that kept the identity of the host`, kept.length, 5),
        atLeast(`${suite}: check-ins after upgrade and way back`, isLater.length, 4),
        atLeast(`${suite}: versions of the agent`, new Set(versions).size, 2),
        ...services,
        atMost(`${suite}: paths left after the purge`, left.length, 0),
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
