import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { workerPaths } from '@portcullis/contract'
import { describe, expect, it } from 'vitest'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

describe('the process of a worker', () => {
  it('ends when its server was killed while it was still loading', async () => {
    const child = spawn(process.execPath, [main, '--server', 'http://127.0.0.1:9', '--token', '-', '--own'], {
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    })
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    child.stdin?.end('token\n')
    child.disconnect()
    // It would go on for ever; the deadline is for a machine that is slow to load it.
    const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
    expect(await ended).toBe(0)
    clearTimeout(late)
  })

  it('takes its token from a file', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'portcullis-worker-'))
    writeFileSync(join(dir, 'token'), 'wkt_from_a_file\n')
    let heard: (body: string) => void = () => {}
    const registered = new Promise<string>((resolve) => {
      heard = resolve
    })
    const server = createServer((request, answer) => {
      let text = ''
      request.on('data', (part: Buffer) => {
        text += part.toString()
      })
      request.on('end', () => {
        heard(`${request.url} ${text}`)
        answer.writeHead(403, { 'content-type': 'application/problem+json' }).end('{"code":"forbidden","detail":"no"}')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const args = ['--server', `http://127.0.0.1:${port}`, '--token-file', join(dir, 'token')]
    const child = spawn(process.execPath, [main, ...args], { stdio: 'ignore' })
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    expect(await registered).toContain(`${workerPaths.register} {"token":"wkt_from_a_file"`)
    expect(await ended).toBe(3)
    server.close()
    rmSync(dir, { recursive: true })
  })
})
