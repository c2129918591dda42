import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { workerPaths } from '@portcullis/contract/worker-protocol.ts'
import { describe, expect, it } from 'vitest'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

describe('the worker process', () => {
  it('ends if its server was killed during the start', async () => {
    const child = spawn(process.execPath, [main, '--server', 'http://127.0.0.1:9', '--token', '-', '--own'], {
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    })
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    child.stdin?.end('token\n')
    child.disconnect()
    // Without the check it would run forever. The deadline allows for a slow machine.
    const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
    expect(await ended).toBe(0)
    clearTimeout(late)
  })

  it('keeps its key over a restart, and uses its token only if the key is unknown', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'portcullis-worker-'))
    const calls: string[] = []
    let known = 'key-1'
    let heard: () => void = () => {}
    const server = createServer((request, answer) => {
      request.resume()
      request.on('end', () => {
        const key = request.headers.authorization?.replace('Bearer ', '') ?? ''
        calls.push(request.url === workerPaths.register ? 'register' : key)
        heard()
        const [status, body] =
          request.url === workerPaths.register
            ? [200, { pollerId: 'p', key: known }]
            : key === known
              ? [200, { polls: [], stop: [], nextMs: 1_000 }]
              : [401, { code: 'unauthorized', detail: 'no' }]
        answer.writeHead(status as number, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const file = join(dir, 'key')
    /** Runs the worker until the server has received a number of requests. */
    const run = async (many: number, token: string): Promise<string[]> => {
      calls.length = 0
      const enough = new Promise<void>((resolve) => {
        heard = () => {
          if (calls.length >= many) resolve()
        }
      })
      const args = [
        '--server',
        `http://127.0.0.1:${port}`,
        '--key-file',
        file,
        ...(token === '' ? [] : ['--token', token]),
      ]
      const child = spawn(process.execPath, [main, ...args], { stdio: 'ignore' })
      await enough
      child.kill('SIGKILL')
      await new Promise((resolve) => child.once('exit', resolve))
      return calls.slice(0, many)
    }
    expect(await run(2, 'a-token')).toEqual(['register', 'key-1'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await run(1, '')).toEqual(['key-1'])
    known = 'key-2'
    expect(await run(3, 'another-token')).toEqual(['key-1', 'register', 'key-2'])
    expect(readFileSync(file, 'utf8')).toBe('key-2\n')
    server.close()
    rmSync(dir, { recursive: true })
  })

  it('reads its token from a file', async () => {
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
