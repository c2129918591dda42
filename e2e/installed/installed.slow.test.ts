import { fileURLToPath } from 'node:url'
import { unless } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { install } from '../../proof/failure/install.ts'
import { whyNoMachine } from '../../proof/kit/installed/machine.ts'
import { isMet } from '../../proof/kit/verdict.ts'

describe('the packages of server and agent', unless(whyNoMachine()), () => {
  it('run under systemd: the short form of the drill', async () => {
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const { findings, notes } = await install.run({ isQuick: true, root, minutes: undefined, seed: 1 })
    expect(findings.length, notes?.join('\n')).toBeGreaterThan(0)
    expect(findings.filter((one) => !isMet(one))).toEqual([])
  }, 900_000)
})
