import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { missingVariables, unitEnvironment } from '../../cli/src/unit-environment.ts'
import { commandLine } from './packages-server.ts'

const dir = mkdtempSync(join(tmpdir(), 'portcullis-command-'))
const unit = join(dir, 'portcullis.service')
const settings = join(dir, 'portcullis.env')
afterAll(() => rmSync(dir, { recursive: true, force: true }))

beforeEach(() => {
  rmSync(`${unit}.d`, { recursive: true, force: true })
  mkdirSync(`${unit}.d`)
  writeFileSync(settings, '')
  writeFileSync(
    unit,
    `[Unit]\nEnvironment=PORTCULLIS_HOST=unit\n[Service]\nEnvironment=NODE_ENV=production\nEnvironment=PORTCULLIS_DATA_DIR=/var/lib/portcullis\nEnvironmentFile=-${settings}\n`,
  )
})
const dropIn = (name: string, text: string): void => writeFileSync(join(`${unit}.d`, name), `[Service]\n${text}\n`)
const variables = () => unitEnvironment(unit).variables

describe('the command line of the package', () => {
  it('names the unit whose environment it uses', () => {
    const [script, program] = [join(dir, 'portcullis'), join(dir, 'program')]
    writeFileSync(program, '#!/bin/sh\necho "$PORTCULLIS_UNIT $*"\n', { mode: 0o755 })
    writeFileSync(script, commandLine('portcullis.service', program), { mode: 0o755 })
    const { stdout } = spawnSync(script, ['doctor', '--json'], { encoding: 'utf8' })
    expect(stdout).toBe('portcullis.service doctor --json\n')
  })

  it('has the settings and the data directory of the service', () => {
    writeFileSync(
      settings,
      '# PORTCULLIS_PORT=1\nPORTCULLIS_HOST=0.0.0.0\nPORTCULLIS_TLS_CERT="/etc/a b.crt"\nNATS_URL=nats://a?b=c=',
    )
    expect(variables()).toEqual({
      PORTCULLIS_DATA_DIR: '/var/lib/portcullis',
      PORTCULLIS_HOST: '0.0.0.0',
      PORTCULLIS_TLS_CERT: '/etc/a b.crt',
      NATS_URL: 'nats://a?b=c=',
    })
  })

  it('has the drop-ins in their order, below environment files', () => {
    writeFileSync(settings, 'PORTCULLIS_HOST=0.0.0.0\n')
    dropIn('20-b.conf', 'Environment=PORTCULLIS_PORT=2 "PORTCULLIS_LOG_LEVEL=de bug" \\\n  PORTCULLIS_HOST=1.2.3.4')
    dropIn(
      '10-a.conf',
      'Environment=PORTCULLIS_PORT=1\n#Environment=PORTCULLIS_PORT=3\n[Install]\nEnvironment=NATS_URL=x',
    )
    writeFileSync(join(`${unit}.d`, 'notes.txt'), '[Service]\nEnvironment=NATS_URL=x\n')
    expect(variables()).toMatchObject({
      PORTCULLIS_PORT: '2',
      PORTCULLIS_LOG_LEVEL: 'de bug',
      PORTCULLIS_HOST: '0.0.0.0',
    })
    expect(variables().NATS_URL).toBeUndefined()
    writeFileSync(join(dir, 'more.env'), 'PORTCULLIS_HOST=last\n')
    dropIn('30-c.conf', `Environment=\nEnvironment=PORTCULLIS_PORT=4\nEnvironmentFile=${dir}/more.env`)
    expect(variables()).toEqual({ PORTCULLIS_PORT: '4', PORTCULLIS_HOST: 'last' })
  })

  it('finds the source of a credential while the service does not run', () => {
    writeFileSync(join(dir, 'database-url'), 'postgres://x')
    dropIn(
      'override.conf',
      `LoadCredential=database-url:${dir}/database-url\nEnvironment=DATABASE_URL_FILE=%d/database-url\nEnvironment=PORTCULLIS_KEY_FILE=%h/key PORTCULLIS_LICENCE_KEYS=%S/%N/keys`,
    )
    expect(variables()).toMatchObject({
      DATABASE_URL_FILE: join(dir, 'database-url'),
      PORTCULLIS_LICENCE_KEYS: '/var/lib/portcullis/keys',
    })
    // Only systemd knows the home directory of the service.
    expect(variables().PORTCULLIS_KEY_FILE).toBeUndefined()
  })

  it('prefers the variables of its caller, even over the file of the same secret', () => {
    const own = { PORTCULLIS_HOST: 'a', DATABASE_URL_FILE: '/file', NATS_URL: 'b' }
    expect(missingVariables({ PORTCULLIS_HOST: 'mine', DATABASE_URL: 'mine' }, own)).toEqual({ NATS_URL: 'b' })
  })

  it('runs no code of the settings and takes no other variable', () => {
    writeFileSync(
      settings,
      `PORTCULLIS_HOST=$(touch ${dir}/ran)\nPATH=/evil\nPORTCULLIS_X[$(touch ${dir}/ran)]=1\nLD_PRELOAD=x\n`,
    )
    dropIn('a.conf', 'Environment=NODE_OPTIONS=--require=/evil LD_PRELOAD=x')
    expect(variables()).toEqual({
      PORTCULLIS_DATA_DIR: '/var/lib/portcullis',
      PORTCULLIS_HOST: `$(touch ${dir}/ran)`,
    })
  })
})
