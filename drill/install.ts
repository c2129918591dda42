/** Runs the packages of server and agent in Debian systems that boot with their systemd. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootDebian, createMachineRoot, whyNoMachine } from '../e2e/installed/machine.ts'
import { buildDebs, type Debs } from '../e2e/installed/packages.ts'
import { installBoth } from '../e2e/installed/prepare.ts'
import { servicesOf, UNITS } from '../e2e/installed/under-systemd.ts'
import { eventually } from '../e2e/kernel/vm.ts'
import type { Check, Finding, Outcome } from '../rig/verdict.ts'
import type { DebianRoot, Suite } from '../scripts/release/debian-root.ts'

/** Boots the system and checks both services. In the short form, only the agent is killed. */
const checkServices = async (suite: Suite, root: DebianRoot, isQuick: boolean): Promise<Finding[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-machine-'))
  const vm = await bootDebian(root, folder)
  try {
    const services = servicesOf(vm)
    const activeAfter = await services.bothActive()
    const readyMs = await services.ready()
    const token = await services.signIn()
    const findings: Finding[] = []
    const restarts: string[] = []
    const kill = async (unit: (typeof UNITS)[number]): Promise<void> => {
      await vm.run(`systemctl kill --kill-whom=main --signal=KILL ${unit}`)
      if (await services.restarted(unit)) restarts.push(unit)
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
    findings.push(
      { what: `${suite}: exposure of the server`, value: await services.exposure(server), atMost: 1.5 },
      { what: `${suite}: exposure of the agent`, value: await services.exposure(agent), atMost: 2.5 },
      { what: `${suite}: complaints about the units`, value: await services.complaints(), atMost: 0 },
      { what: `${suite}: errors in the journal`, value: await services.errors(), atMost: 0 },
      { what: `${suite}: units that systemd started again`, value: restarts.length, atLeast: 1 },
      { what: `${suite}: the agent checks in`, value: checkedIn, atLeast: 1 },
      { what: `${suite}: units that fail to stop`, value: await services.failedStops(), atMost: 0 },
      { what: `${suite}: both units active after`, value: activeAfter, unit: 's' },
      { what: `${suite}: server ready after`, value: Math.round(activeAfter + readyMs / 1000), unit: 's' },
    )
    return findings
  } finally {
    await vm.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const runIn = async (suite: Suite, debs: Debs, isQuick: boolean): Promise<Finding[]> => {
  const root = createMachineRoot(suite)
  try {
    installBoth(root, debs)
    return await checkServices(suite, root, isQuick)
  } finally {
    root.remove()
  }
}

export const install: Check = {
  name: 'install',
  what: 'The packages of server and agent are installed in Debian 12 and 13 (12 in the short form), which boot with their systemd in an emulated machine. Both units run, survive SIGKILL and stop; the agent checks in; systemd finds nothing to complain about in the units.',
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const whyNot = whyNoMachine()
    if (whyNot !== null) return { findings: [], notRun: [`install: ${whyNot}`] }
    const debs = await buildDebs(root)
    const findings: Finding[] = []
    try {
      for (const suite of isQuick ? (['bookworm'] as const) : (['bookworm', 'trixie'] as const))
        findings.push(...(await runIn(suite, debs, isQuick)))
      return { findings, notes: ['Times are those of emulated processors.'] }
    } finally {
      debs.remove()
    }
  },
  sabotages: [
    {
      what: 'systemd does not start the agent again',
      red: 'started again',
      edits: [
        {
          file: 'server/src/features/fleet/agents/install/unit.ts',
          find: 'Restart=always',
          replace: 'Restart=no',
        },
      ],
    },
  ],
}
