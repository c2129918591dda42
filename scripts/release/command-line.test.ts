import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { commandLine } from './packages-server.ts'

const dir = mkdtempSync(join(tmpdir(), 'portcullis-command-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const settings = join(dir, 'portcullis.env')
const script = join(dir, 'portcullis')
const program = join(dir, 'program')
writeFileSync(program, '#!/bin/sh\nenv\necho "arguments: $*"\n', { mode: 0o755 })
writeFileSync(script, commandLine(settings, program), { mode: 0o755 })

const run = (text: string, env: Record<string, string> = {}): string[] => {
  writeFileSync(settings, text)
  const { stdout, stderr } = spawnSync(script, ['doctor', '--json'], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', ...env },
  })
  expect(stderr).toBe('')
  return stdout.split('\n')
}

describe('the command line of the package', () => {
  it('has the settings and the data directory of the service', () => {
    const lines = run(
      '# PORTCULLIS_PORT=1\nPORTCULLIS_HOST=0.0.0.0\nPORTCULLIS_TLS_CERT="/etc/a b.crt"\nNATS_URL=nats://a?b=c=',
    )
    expect(lines).toEqual(
      expect.arrayContaining([
        'PORTCULLIS_HOST=0.0.0.0',
        'PORTCULLIS_TLS_CERT=/etc/a b.crt',
        'NATS_URL=nats://a?b=c=',
        'PORTCULLIS_DATA_DIR=/var/lib/portcullis',
        'arguments: doctor --json',
      ]),
    )
    expect(lines.join('\n')).not.toContain('PORTCULLIS_PORT')
  })

  it('prefers the variables of its caller', () => {
    const lines = run('PORTCULLIS_HOST=0.0.0.0\nPORTCULLIS_DATA_DIR=/srv/a\n', { PORTCULLIS_HOST: '127.0.0.1' })
    expect(lines).toContain('PORTCULLIS_HOST=127.0.0.1')
    expect(lines).toContain('PORTCULLIS_DATA_DIR=/srv/a')
  })

  it('runs no code of the settings and sets no other variable', () => {
    const lines = run(
      `PORTCULLIS_HOST=$(touch ${dir}/ran)\nPATH=/evil\nPORTCULLIS_X[$(touch ${dir}/ran)]=1\nLD_PRELOAD=x\n`,
    )
    expect(lines).toContain(`PORTCULLIS_HOST=$(touch ${dir}/ran)`)
    expect(lines.join('\n')).not.toMatch(/evil|LD_PRELOAD|PORTCULLIS_X/)
    expect(spawnSync('test', ['-e', join(dir, 'ran')]).status).toBe(1)
  })
})
