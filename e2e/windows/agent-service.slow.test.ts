import { createHash } from 'node:crypto'
import { releaseKeyFileOf, releaseKeyPair, storageStick, unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { nodeFlags } from '../../agent/src/node-flags.ts'
import { until } from '../../agent/test/harness.ts'
import { startPeer } from '../../agent/test/peer.ts'
import { signedBuild } from '../../agent/test/release-keys.ts'
import { windowsNodes } from '../../agent/test/windows-nodes.ts'
import { bundleForWine } from '../../proof/kit/windows/bundle.ts'
import { bundleAgent } from '../../scripts/bundle-agent.mjs'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

const release = releaseKeyPair()
const STATE = '/prefix/drive_c/ProgramData/Portcullis Agent'
const MEASURED_SECONDS = 20
const DEVICES = 31

/** Start and end of the image of node.exe in the address space. */
const IMAGE = [0x1_4000_0000, 0x1_5000_0000] as const

/**
 * Returns the private memory of a process in MB without the image of node.exe. Windows shares the pages of an image with its
 * file; Wine copies them, because they are not aligned in the file as Linux needs them.
 */
const privateMb = (smaps: string): { own: number; image: number } => {
  let [own, image, start] = [0, 0, 0]
  for (const line of smaps.split('\n')) {
    const [, begin] = /^([0-9a-f]+)-[0-9a-f]+ /.exec(line) ?? []
    if (begin !== undefined) start = Number.parseInt(begin, 16)
    const [, size] = /^Private_(?:Clean|Dirty): +(\d+) kB/.exec(line) ?? []
    if (size === undefined) continue
    if (start >= IMAGE[0] && start < IMAGE[1]) image += Number(size) / 1024
    else own += Number(size) / 1024
  }
  return { own, image }
}

const bundle = async (version: string): Promise<Buffer> => {
  const { outputFiles } = await bundleAgent({
    ...{ entry: 'agent/src/platform/windows/main.ts', outfile: 'agent.cjs', version, write: false },
    releaseKey: releaseKeyFileOf(release),
  })
  return Buffer.from(outputFiles?.[0]?.contents ?? [])
}

/** Sticks at the ports of one controller. */
const fixture = JSON.stringify({
  hub: {},
  nodes: Array.from({ length: DEVICES }, (_, index) => index + 1)
    .flatMap((port) => windowsNodes(storageStick({ portPath: `1-${port}`, serial: `4C53000123061511${1000 + port}` })))
    .map(({ instanceId, properties }) => ({
      instanceId,
      properties: Object.entries(properties).map(([name, { type, data }]) => [
        ...[name, type, Buffer.from(data ?? []).toString('base64')],
      ]),
    })),
})

/** Waits for a line that the agent logs for the nth time, or until the service has stopped. */
const logged = (event: string, count: number): string =>
  `for i in $(seq 300); do [ "$(grep -c '"event":"${event}"' "${STATE}/agent.log" 2>/dev/null)" -ge ${count} ] && break; sleep 0.1; done`
const STOPPED =
  'for i in $(seq 300); do wine sc query PortcullisAgent | grep -q STOPPED && break; sleep 0.2; done; wine sc query PortcullisAgent'

/** Prints the private memory of the agent in KiB, and its processor time in ticks of 10 ms during the measurement. */
const MEASURE = `
pid() { for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline 2>/dev/null | grep -q '^[^ ]*node.exe.*agent.cjs' && basename $p; done | head -1; }
ticks() { cut -d' ' -f14,15 /proc/$1/stat | tr ' ' '+'; }
P=$(pid); before=$(($(ticks $P))); sleep ${MEASURED_SECONDS}; after=$(($(ticks $P)))
echo "ticks $((after - before))" >ticks.txt; cp /proc/$P/smaps smaps.txt`

describe('the agent as a service under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  beforeAll(async () => {
    root = await createWineRoot()
    root.add('agent.cjs', await bundle('1.0.0'))
    root.add('inventory.cjs', await bundleForWine('e2e/windows/guest/inventory.ts'))
    root.add('fixture.json', fixture)
    expect(root.node('inventory.cjs').all).toBe('')
  }, 600_000)
  afterAll(() => root?.remove())

  it('starts, restarts, installs an update and rolls back a broken one', async () => {
    const peer = await startPeer({ nextCheckInSeconds: 30 })
    const good = await bundle('1.1.0')
    const broken = Buffer.from(
      `if (process.argv.includes('--version')) console.log('1.2.0')\nelse throw new Error('broken')\n`,
    )
    const order = (bytes: Buffer, version: string): string => {
      peer.packages.set(createHash('sha256').update(bytes).digest('hex'), bytes)
      return peer.order('update', signedBuild(release, bytes, version, { architecture: 'windows-x64' }))
    }
    root.add('token', peer.token)
    root.add(
      'agent.env',
      `PORTCULLIS_AGENT_SERVER=${peer.url}\r\nPORTCULLIS_AGENT_TOKEN_FILE=C:\\ProgramData\\Portcullis Agent\\token\r\n`,
    )
    const run = root.start(`wineserver -p
mkdir -p '${STATE}'; mv token agent.env '${STATE}/'
wine sc create PortcullisAgent binPath= '"Z:\\agent\\node.exe" ${nodeFlags.join(' ')} "Z:\\agent\\agent.cjs" service' start= auto
wine /agent/node.exe 'Z:\\agent\\agent.cjs' service-check </dev/null >check.txt 2>&1
wine sc start PortcullisAgent; ${logged('watching', 1)}; sleep 5
${MEASURE}
wine sc stop PortcullisAgent; ${STOPPED}
wine sc start PortcullisAgent; ${STOPPED}
wine sc start PortcullisAgent; ${STOPPED}
wine sc start PortcullisAgent; ${logged('update_confirmed', 2)}; sleep 3
wine sc stop PortcullisAgent; ${STOPPED}
ls '${STATE}' '${STATE}/versions'; cat '${STATE}/agent.log' | tail -60`)
    let output = ''
    void run.done.then((text) => {
      output = text
    })
    onTestFinished(async () => {
      await run.stop()
      await peer.stop()
      console.log(output)
    })
    await until('enrolled', () => peer.seen.checkIns.length > 0, 60_000)
    expect(peer.only().devices.size).toBe(DEVICES)
    await until('restarted', () => peer.seen.sessions.length > 1, 90_000)
    const ack = (id: string) => peer.seen.acks.find(({ commandId }) => commandId === id)
    const first = order(good, '1.1.0')
    await until('updated', () => ack(first) !== undefined, 90_000)
    expect(ack(first)).toMatchObject({ outcome: 'confirmed' })
    const versions = () => peer.seen.checkIns.flatMap(({ body }) => body.facts?.agentVersion ?? [])
    expect(versions().at(-1)).toBe('1.1.0')
    const second = order(broken, '1.2.0')
    await until('rolled back', () => ack(second) !== undefined, 90_000)
    expect(ack(second)).toMatchObject({ outcome: 'failed', message: expect.stringContaining('1.2.0 cannot be loaded') })
    expect(versions().at(-1)).toBe('1.1.0')
    const { own, image } = privateMb(root.read('smaps.txt'))
    const cpu = Number(root.read('ticks.txt').split(' ')[1]) / MEASURED_SECONDS
    console.log(
      `private memory ${own.toFixed(1)} MB without the image of node.exe (${image.toFixed(1)} MB); idle ${cpu.toFixed(2)} % of a core`,
    )
    expect(image).toBeGreaterThan(10)
    expect(own).toBeLessThan(100)
    // The target is 0.5 %. The limit is higher because other tests run on the same machine.
    expect(cpu).toBeLessThan(2)
    // Wine stores no recovery actions.
    expect(root.read('check.txt')).toMatch(/^recovery_missing: .*\n$/)
    expect(peer.seen.enrols).toHaveLength(1)
    expect(peer.seen.violations).toEqual([])
  }, 400_000)
})
