import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { kernelFiles, whyNoKernel } from '../../e2e/kernel/kernel-files.ts'
import { lies } from '../../e2e/kernel/lies.ts'
import { startLyingRig } from '../../e2e/kernel/lying-rig.ts'
import { slowness } from '../../e2e/kernel/measure.ts'
import { eventually } from '../../e2e/kernel/vm.ts'
import { root as ownRoot } from '../kit/root.ts'
import { amount, type Check, type Outcome } from '../kit/verdict.ts'

const PLUGS = { full: 50, quick: 5 }

/** Returns the agent binary. `npm run build` already built the one of this checkout; others are built here. */
const agentOf = (root: string): string => {
  if (root === ownRoot) return kernelFiles.agent
  const out = join(root, 'own-agent')
  const built = spawnSync(
    process.execPath,
    [join(root, 'scripts', 'build-agent.mjs'), join(root, 'agent', 'src', 'main.ts'), out],
    { encoding: 'utf8' },
  )
  if (built.status !== 0) throw new Error(`Cannot build the agent: ${built.stderr}`)
  return join(out, 'portcullis-agent-linux-x64')
}

/** Checks that devices with false claims get nothing through an armed host, even after many plugs. */
export const lyingDevices: Check = {
  name: 'lying-devices',
  what: 'USB devices that are not what they claim to be are attached repeatedly to an armed host with a real, emulated kernel. No frame, sector or keystroke gets through, and no driver that is not allowed stays bound.',
  run: async ({ isQuick, root }): Promise<Outcome> => {
    if (whyNoKernel !== undefined) return { findings: [], notRun: [whyNoKernel] }
    const plugs = isQuick ? PLUGS.quick : PLUGS.full
    const rig = await startLyingRig({ ...kernelFiles, agent: agentOf(root) })
    const sum = { frames: 0, sectors: 0, keystrokes: 0, networks: 0, disks: 0, sounds: 0, stillBound: 0 }
    const notes: string[] = []
    let harmful = 0
    let longest = 0
    let bound = 0
    let unexplained = 0
    try {
      for (const lie of lies) {
        await rig.plug(lie)
        await eventually(`${lie.name} does harm`, async () => {
          const loot = await rig.loot(lie)
          const isBound = loot.foreign.some(({ driver }) => driver === lie.foreign)
          return isBound && (lie.harm === undefined || loot[lie.harm] > 0)
        })
        harmful++
        await rig.unplug(lie)
      }
      await rig.startAgent()
      await rig.arm()
      for (const lie of lies) {
        await rig.setRules(...lie.rules)
        for (let i = 0; i < plugs; i++) {
          const { loot, held } = await rig.tryArmed(lie)
          const { foreign, ...numbers } = loot
          for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += numbers[key]
          bound += foreign.length
          for (const { ms } of foreign) longest = Math.max(longest, ms)
          if (held.length > 0 !== foreign.length > 0) unexplained++
          if (Object.values(numbers).some((n) => n > 0)) notes.push(`${lie.name}: ${JSON.stringify(loot)}`)
        }
      }
      const slower = await slowness(rig.vm)
      const bar = (what: string, value: number) => ({ what, value, atMost: 0 })
      return {
        findings: [
          { what: 'devices that harm an unprotected host', value: harmful, atLeast: 8 },
          { what: amount(isQuick, 'plugs of each into the armed host'), value: plugs, atLeast: plugs },
          bar('frames that got through', sum.frames),
          bar('sectors that got through', sum.sectors),
          bar('keystrokes that got through', sum.keystrokes),
          bar('network interfaces', sum.networks),
          bar('disks', sum.disks),
          bar('sound devices', sum.sounds),
          bar('foreign drivers that stayed bound', sum.stillBound),
          bar('foreign drivers without a held port, or the reverse', unexplained),
          { what: 'foreign drivers bound for a moment', value: bound },
          { what: 'longest of these', value: Math.round(longest), unit: 'ms, emulated' },
          {
            what: 'longest at the speed of this machine',
            value: Math.round(longest / slower),
            unit: 'ms',
            atMost: 100,
          },
        ],
        notes: notes.slice(0, 20),
      }
    } finally {
      await rig.stop()
    }
  },
}
