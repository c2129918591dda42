/** D7: delivers reports twice, out of order, or days late. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DeviceReport } from '@portcullis/contract'
import { inventoryHash, parseReport } from '@portcullis/domain'
import { hub, plainKeyboard, plainMouse, rubberDucky, storageStick } from '@portcullis/domain/testing'
import fc from 'fast-check'
import type * as ApplyReport from '../../features/ingest/server/index.ts'
import { withClient } from '../kit/stored.ts'
import { startTrial, type Trial } from '../kit/trial.ts'
import type { Check, Outcome } from '../kit/verdict.ts'

type Apply = Pick<typeof ApplyReport, 'applyReport' | 'storedHash'>
type Judged = Extract<Parameters<Apply['applyReport']>[1][number], { op: 'attached' | 'changed' }>['device']
type Stored = Parameters<Apply['applyReport']>[0]

interface Said extends Record<string, unknown> {
  seq: number
  inventoryHash: string
  inventory?: DeviceReport[]
  changes?: ({ op: 'attached'; at: number; device: DeviceReport } | { op: 'removed'; at: number; portPath: string })[]
}

/** A connected device as text: port, serial number, descriptors, and whether it is authorized. */
type Row = string

const makes: ((portPath: string) => DeviceReport)[] = [
  (portPath) => plainKeyboard({ portPath }),
  (portPath) => plainKeyboard({ portPath, bcdDevice: '0200' }),
  (portPath) => plainMouse({ portPath }),
  (portPath) => hub({ portPath }),
  (portPath) => rubberDucky({ portPath }),
  // Cheap sticks often share one serial number.
  (portPath) => storageStick({ portPath, serial: 'S1' }),
  (portPath) => storageStick({ portPath, serial: 'S1', authorized: false }),
  (portPath) => storageStick({ portPath, serial: 'S2' }),
]
const port = fc.constantFrom('1-1', '1-2', '2-1', '2-1.1')
const step = fc.oneof(
  fc.record({ make: fc.constantFrom(...makes), portPath: port }).map(({ make, portPath }) => make(portPath)),
  port,
)
/** The changes at a host, each with one to three delivery times of its report. Smaller times arrive first. */
const life = fc.array(fc.tuple(step, fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 3 })), {
  minLength: 1,
  maxLength: 10,
})
type Life = readonly (readonly [DeviceReport | string, readonly number[]])[]

const weekMs = 7 * 24 * 3_600_000

/** Returns the reports of a host in order, starting with its inventory. */
const reportsOf = (steps: Life): { said: Said[]; devices: DeviceReport[] } => {
  const devices = new Map<string, DeviceReport>()
  const said: Said[] = [{ seq: 1, inventoryHash: inventoryHash([]), inventory: [] }]
  for (const [change] of steps) {
    if (typeof change === 'string') devices.delete(change)
    else devices.set(change.portPath, change)
    said.push({
      seq: said.length + 1,
      clock: Date.now() - weekMs,
      inventoryHash: inventoryHash([...devices.values()]),
      changes: [
        typeof change === 'string'
          ? { op: 'removed', at: Date.now() - weekMs, portPath: change }
          : { op: 'attached', at: Date.now() - weekMs, device: change },
      ],
    })
  }
  return { said, devices: [...devices.values()] }
}

/** Returns the reports in delivery order, each as often as it is delivered. */
const delivered = (said: readonly Said[], steps: Life): Said[] =>
  [
    { said: said[0] as Said, at: 0 },
    ...steps.flatMap(([, times], i) => times.map((at) => ({ said: said[i + 1] as Said, at }))),
  ]
    .sort((a, b) => a.at - b.at)
    .map((one) => one.said)

/**
 * Delivers reports, then a final check-in and, if the server asks for it, the inventory.
 * Returns how many reports were not acknowledged.
 */
const play = async (
  reports: readonly Said[],
  devices: readonly DeviceReport[],
  last: number,
  take: (said: Said) => Promise<{ needInventory?: boolean } | null>,
): Promise<number> => {
  let refused = 0
  for (const said of reports) if ((await take(said)) === null) refused += 1
  const hash = inventoryHash(devices)
  const answer = await take({ seq: last + 1, inventoryHash: hash })
  if (answer?.needInventory === true) await take({ seq: last + 2, inventoryHash: hash, inventory: [...devices] })
  return refused
}

const rowOf = (report: DeviceReport): Row =>
  [report.portPath, report.serial ?? '', report.descriptors, report.authorized ?? true].join(' ')

const isSame = (a: readonly Row[], b: readonly Row[]): boolean => [...a].sort().join('\n') === [...b].sort().join('\n')

/** Creates a model of the ingest around the function that applies reports. */
const createModel = ({ applyReport, storedHash }: Apply) => {
  const designs = new Map<string, number>()
  const judged = (report: DeviceReport): Judged => {
    const key = [report.descriptors, report.manufacturer, report.product].join(' ')
    const id = designs.get(key) ?? designs.size + 1
    designs.set(key, id)
    const { vid, pid } = parseReport(report)
    const { descriptors, manufacturer = '', product = '', serial = '' } = report
    const design = { id, vid, pid, descriptors, manufacturer, product, configuration: '' }
    // The verdict about a fingerprint does not affect how a report is applied, so it is left out.
    return { report, serial, design } as unknown as Judged
  }
  return () => {
    let stored: Stored = []
    let hash: string | null = null
    let seq = 0
    return {
      take: async (said: Said): Promise<{ needInventory?: boolean }> => {
        if (said.seq <= seq) return {}
        seq = said.seq
        if (said.inventory === undefined && said.changes === undefined)
          return { needInventory: hash !== said.inventoryHash }
        const isBlind = hash === null && said.inventory === undefined
        const changes = (said.changes ?? []).map((change) =>
          change.op === 'removed'
            ? { op: change.op, portPath: change.portPath }
            : { op: change.op, device: judged(change.device) },
        )
        const { all } = applyReport(stored, isBlind ? [] : changes, said.inventory?.map(judged) ?? null)
        stored = all
        hash = isBlind ? null : storedHash(all)
        return { needInventory: hash !== said.inventoryHash }
      },
      rows: (): Row[] =>
        stored
          .filter(({ present }) => present)
          .map((p) => [p.portPath, p.serial, p.design.descriptors, p.authorized].join(' ')),
      /** Counts devices that share an id with another one. People would see them as one device. */
      doubles: (): number => stored.length - new Set(stored.map(({ deviceId }) => deviceId)).size,
    }
  }
}

interface Counted {
  runs: number
  mismatches: number
  refused: number
  example: string | undefined
}

const counted = async (
  runs: number,
  seed: number,
  isGood: (steps: Life) => Promise<{ isSame: boolean; refused: number }>,
): Promise<Counted> => {
  const result: Counted = { runs: 0, mismatches: 0, refused: 0, example: undefined }
  for (const steps of fc.sample(life, { numRuns: runs, seed })) {
    const one = await isGood(steps)
    result.runs += 1
    result.refused += one.refused
    if (one.isSame) continue
    result.mismatches += 1
    result.example ??= JSON.stringify(
      steps.map(([change, at]) => [
        typeof change === 'string' ? `- ${change}` : `+ ${change.portPath} ${change.product} ${change.serial ?? ''}`,
        at,
      ]),
    )
  }
  return result
}

const pure = async (runs: number, seed: number, root: string): Promise<Counted> => {
  const file = join(root, 'features/ingest/server/index.ts')
  const receiver = createModel((await import(pathToFileURL(file).href)) as Apply)
  return counted(runs, seed, async (steps) => {
    const { said, devices } = reportsOf(steps)
    const [inOrder, disturbed] = [receiver(), receiver()]
    const last = said.length
    await play(said, devices, last, inOrder.take)
    const refused = await play(delivered(said, steps), devices, last, disturbed.take)
    const isGood =
      isSame(inOrder.rows(), devices.map(rowOf)) &&
      isSame(disturbed.rows(), inOrder.rows()) &&
      inOrder.doubles() + disturbed.doubles() === 0
    return { isSame: isGood, refused }
  })
}

const storedRows = (trial: Trial, agentId: string): Promise<Row[]> =>
  withClient(trial.connection, async (client) => {
    const { rows } = await client.query<{ port: string; serial: string; bytes: string; authorized: boolean }>(
      `SELECT p.port_path AS port, p.serial, translate(encode(d.descriptors, 'base64'), E'\\n', '') AS bytes, p.authorized
       FROM peripherals p JOIN designs d USING (design_id) WHERE p.agent_id = $1 AND p.present`,
      [agentId],
    )
    return rows.map(({ port: at, serial, bytes, authorized }) => [at, serial, bytes, authorized].join(' '))
  })

const throughHttp = async (runs: number, seed: number, root: string): Promise<Counted> => {
  const trial = await startTrial({ name: 'late', root, hosts: 1 })
  try {
    let n = 0
    return await counted(runs, seed, async (steps) => {
      const { said, devices } = reportsOf(steps)
      const host = await trial.enrol(`disturbed-${n++}`)
      const refused = await play(delivered(said, steps), devices, said.length, async (one) => {
        const answer = await host.checkIn(one)
        return answer?.status === 200 ? (answer.body as { needInventory?: boolean }) : null
      })
      return { isSame: isSame(await storedRows(trial, host.agentId), devices.map(rowOf)), refused }
    })
  } finally {
    await trial.stop()
  }
}

export const lateReports: Check = {
  name: 'D7',
  isWaiting: true,
  what: 'Reports are delivered in any order, up to three times each and up to a week late. Then the host checks in normally. The stored devices equal the attached ones, as after delivery in order. A late report never restores a removed device.',
  run: async ({ isQuick, root, seed }): Promise<Outcome> => {
    const model = await pure(10_000, seed, root)
    const real = await throughHttp(isQuick ? 50 : 500, seed, root)
    return {
      findings: [
        { what: 'runs of the model', value: model.runs, atLeast: 10_000 },
        { what: 'mismatches of the model', value: model.mismatches, atMost: 0 },
        { what: 'runs through HTTP', value: real.runs, atLeast: 50 },
        { what: 'mismatches through HTTP', value: real.mismatches, atMost: 0 },
        { what: 'reports that were refused', value: model.refused + real.refused, atMost: 0 },
      ],
      notes: [model.example, real.example].flatMap((example) => example ?? []),
    }
  },
}
