import { join } from 'node:path'
import type { DeviceChange } from '@portcullis/contract/agent-protocol.ts'
import { plainKeyboard } from '@portcullis/domain/testing'
import { createSpool, type SpoolDeps } from '../src/spool.ts'
import { temporaryDir } from './harness.ts'

export const times = (changes: readonly DeviceChange[]) => changes.map((change) => change.at)

export const setUp = (more: Partial<SpoolDeps> = {}) => {
  const stateDir = temporaryDir()
  const faults: string[] = []
  /** Opens the same directory again, as after a kill. */
  const open = () =>
    createSpool({
      boot: { id: '', elapsed: () => 0 },
      stateDir,
      onWriteError: (message) => faults.push(message),
      onDropped: (count) => faults.push(`dropped ${count}`),
      ...more,
    })
  return { path: join(stateDir, 'spool.jsonl'), faults, open }
}

/** A device at a port; each number is another identity. */
export const attached = (at: number, portPath: string, identity = 0, bytes = 0): DeviceChange => ({
  op: 'attached',
  at,
  device: {
    ...plainKeyboard({ portPath, serial: `serial-${identity}` }),
    ...(bytes === 0 ? {} : { descriptors: 'A'.repeat(bytes) }),
  },
})
export const removed = (at: number, portPath: string): DeviceChange => ({ op: 'removed', at, portPath })
export const countOf = (changes: readonly DeviceChange[]): number =>
  changes.reduce((sum, { repeated }) => sum + 1 + (repeated?.count ?? 0), 0)
