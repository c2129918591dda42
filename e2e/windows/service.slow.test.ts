import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleForWine } from '../../proof/kit/windows/bundle.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

/** Waits until a service has stopped, and prints its state. */
const untilStopped = (name: string): string =>
  `for i in $(seq 100); do wine sc query ${name} | grep -q STOPPED && break; sleep 0.1; done; wine sc query ${name}`

describe('a service under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  beforeAll(async () => {
    root = await createWineRoot()
    root.add('service.cjs', await bundleForWine('e2e/windows/guest/service.ts'))
  }, 600_000)
  afterAll(() => root?.remove())

  /** Runs a service with a behaviour and returns its last state and what it wrote. */
  function runOne(behaviour: string, isStopped: boolean) {
    const name = `P${behaviour}`
    const { all } = root.run(`wineserver -p
wine sc create ${name} binPath= '"Z:\\agent\\node.exe" "Z:\\agent\\service.cjs" ${name} ${behaviour}' start= demand
wine sc start ${name}
for i in $(seq 100); do grep -qs '^running$' ${name}.txt && break; sleep 0.1; done
${isStopped ? `wine sc query ${name}\nwine sc stop ${name}` : ''}
${untilStopped(name)}
! pgrep node.exe 2>/dev/null || echo still running`)
    const number = (label: string): number => Number(all.slice(all.lastIndexOf(label)).match(/: (\d+)/)?.[1])
    return {
      states: [...all.matchAll(/STATE +: \d +(\w+)/g)].map(([, state]) => state),
      error: number('WIN32_EXIT_CODE'),
      specific: number('SERVICE_EXIT_CODE'),
      lines: root.read(`${name}.txt`).trim().split('\n'),
    }
  }

  it('starts, runs and stops cleanly', () => {
    const { states, error, lines } = runOne('slow', true)
    expect(states).toContain('RUNNING')
    expect(states).toContain('STOP_PENDING')
    expect(states.at(-1)).toBe('STOPPED')
    expect(error).toBe(0)
    expect(lines.slice(0, 5)).toEqual(['startPending 1', 'running 0', 'running', 'stopPending 1', 'stopping'])
    expect(lines).toContain('stopPending 3')
    expect(lines.slice(-2)).toEqual(['stopped', 'stopped 0'])
  })

  it.each([
    ['fails', { error: 1066, specific: 7 }],
    ['throws', { error: 1066, specific: 1 }],
    ['revoked', { error: 0, specific: 0 }],
    // Wine sets ERROR_PROCESS_ABORTED, because the process ended without a report.
    ['crashes', { error: 1067, specific: 0 }],
    ['rejects', { error: 1067, specific: 0 }],
  ])('that %s ends with the code for its recovery actions', (behaviour, expected) => {
    const { states, error, specific } = runOne(behaviour, false)
    expect(states.at(-1)).toBe('STOPPED')
    expect({ error, specific }).toEqual(expected)
  })

  it('that hangs during a stop ends at the limit', () => {
    const { states, error, specific, lines } = runOne('hangs', true)
    expect(states.at(-1)).toBe('STOPPED')
    expect({ error, specific }).toEqual({ error: 1066, specific: 1 })
    expect(lines).toContain('failed: The agent did not stop within 3 s.')
  })

  it('is not started by a console', () => {
    expect(root.node('service.cjs', ['Console']).status).toBe(9)
    expect(root.read('Console.txt')).toBe('isService false\n')
  })
})
