import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { plainKeyboard, rubberDucky } from '@portcullis/domain/testing'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { clientSource, programSource } from '@portcullis/server/test/generated-client.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const modules = join(import.meta.dirname, '../../..', 'node_modules')

let t: TestApp
let dir: string
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  dir = mkdtempSync(join(tmpdir(), 'portcullis-client-'))
})
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true })
  await t.close()
})

/** Runs an installed program in the folder of the client. Returns its output if it failed. */
const node = (...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8' })
  return status === 0 ? '' : `${stdout}${stderr}` || `ended with ${status}`
}

describe('a client generated from the document', () => {
  it('compiles, and calls ten operations of a real server', async () => {
    const agent = await enrolAgent(t, {
      facts: { hostname: 'lab-7' },
      devices: [plainKeyboard(), rubberDucky({ portPath: '1-2' })],
    })
    await t.alerts.run()
    writeFileSync(join(dir, 'openapi.json'), await (await fetch(`${t.address}/openapi.json`)).text())
    expect(node(join(modules, 'openapi-typescript', 'bin', 'cli.js'), 'openapi.json', '-o', 'api.d.ts')).toBe('')

    writeFileSync(join(dir, 'package.json'), '{"type":"module"}')
    writeFileSync(join(dir, 'client.ts'), clientSource)
    writeFileSync(join(dir, 'program.ts'), programSource)
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noUnusedLocals: true },
      ...{ target: 'es2024', module: 'nodenext', lib: ['es2024', 'dom', 'dom.iterable'], types: [] },
      ...{ rewriteRelativeImportExtensions: true, outDir: 'out', rootDir: '.' },
    }
    writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts', 'client.ts'] }))
    expect(node(join(modules, '@typescript', 'native', 'bin', 'tsc'), '-p', '.')).toBe('')

    const { run } = await import(/* @vite-ignore */ pathToFileURL(join(dir, 'out', 'program.js')).href)
    expect(await run(t.address, adminPassword, agent.agentId)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+/),
      hosts: ['lab-7'],
      peripherals: expect.arrayContaining(['413C', '03EB']),
      names: ['Ada', 'Keller', 'Keller'],
      profiles: [10, 30],
      severity: 'Error',
      notices: ['attackTool'],
      dismissed: [true],
    })
  })
})
