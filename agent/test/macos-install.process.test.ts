import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryDir, until } from './harness.ts'
import { startPeer } from './peer.ts'
import { bundledAgent, env, macosMain } from './processes.ts'

const sources = join(dirname(fileURLToPath(import.meta.url)), '../../ops/macos')

/** Unpacks the package for macOS into a folder that stands in for the root of a Mac, with programs that Linux lacks. */
const setUp = async () => {
  const peer = await startPeer()
  onTestFinished(() => peer.stop())
  const root = temporaryDir()
  const from = join(root, 'package')
  const bin = join(root, 'bin')
  for (const dir of [from, bin, join(root, 'var/log'), join(root, 'Library/LaunchDaemons')])
    mkdirSync(dir, { recursive: true })
  const script = (path: string, text: string) => writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  for (const name of ['install.sh', 'daemon.sh', 'portcullis-agent.sh', 'org.portcullis.agent.plist']) {
    cpSync(join(sources, name), join(from, name))
    const text = readFileSync(join(from, name), 'utf8')
    writeFileSync(join(from, name), text.replace(/(?<![\w"])\/(?:usr\/local|etc|var|Library)\//g, `${root}$&`))
  }
  script(join(from, 'node'), `exec ${process.execPath} "$@"`)
  writeFileSync(join(from, 'architecture'), 'arm64\n')
  for (const name of ['LICENSE', 'NODE-LICENSE', 'THIRD-PARTY-LICENSES.md']) writeFileSync(join(from, name), '')
  cpSync(bundledAgent(null, macosMain), join(from, 'agent.cjs'))
  const launched = join(root, 'launchctl.log')
  script(join(bin, 'uname'), 'if [ "$1" = -s ]; then echo Darwin; else echo arm64; fi')
  script(join(bin, 'id'), 'echo 0')
  for (const name of ['chown', 'xattr']) script(join(bin, name), '')
  script(join(bin, 'launchctl'), `echo "$*" >>${launched}`)
  const token = join(root, 'token')
  writeFileSync(token, peer.token, { mode: 0o600 })
  const more = { ...env, PATH: `${bin}:${env.PATH}` }
  const install = async (...args: string[]) => {
    const child = spawn('sh', [join(from, 'install.sh'), ...args], { env: more, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    return { code: await new Promise((done) => child.on('close', done)), output }
  }
  return { peer, root, from, token, install, more, launched: () => readFileSync(launched, 'utf8') }
}

describe('the package for macOS', { timeout: 60_000 }, () => {
  it('enrols the host, starts the daemon, and removes everything again', async () => {
    const { peer, root, token, install, more, launched } = await setUp()
    const done = await install('--server', peer.url, '--token-file', token)
    expect([done.code, done.output]).toEqual([0, expect.stringContaining('The agent runs and only monitors')])
    expect(peer.seen.enrols[0]?.facts).toMatchObject({ osName: 'macOS', enforcement: 'observe' })
    expect(launched()).toContain(`bootstrap system ${root}/Library/LaunchDaemons/org.portcullis.agent.plist`)
    const status = spawnSync(join(root, 'usr/local/bin/portcullis-agent'), ['status'], { env: more, encoding: 'utf8' })
    expect(status.stdout).toContain(peer.only().id)
    // An upgrade needs no token.
    expect((await install()).code).toBe(0)
    expect(peer.seen.enrols).toHaveLength(1)
    expect((await install('--uninstall')).code).toBe(0)
    for (const path of ['usr/local/lib/portcullis-agent', 'var/db/portcullis-agent', 'etc/portcullis-agent'])
      expect([path, existsSync(join(root, path))]).toEqual([path, false])
  })

  it('runs a daemon that stops on SIGTERM and does not restart after a revocation', async () => {
    const { peer, root, token, install, more } = await setUp()
    expect((await install('--server', peer.url, '--token-file', token)).code).toBe(0)
    const start = () => {
      const child = spawn('sh', [join(root, 'usr/local/lib/portcullis-agent/daemon.sh')], { env: more })
      onTestFinished(() => void child.kill('SIGKILL'))
      return { child, exit: new Promise((done) => child.on('exit', (code) => done(code))) }
    }
    const before = peer.seen.checkIns.length
    const running = start()
    await until('check-in', () => peer.seen.checkIns.length > before, 30_000)
    running.child.kill('SIGTERM')
    expect(await running.exit).toBe(0)
    peer.only().revoked = true
    expect(await start().exit).toBe(0)
    expect(readFileSync(join(root, 'var/log/portcullis-agent.log'), 'utf8')).toContain('revoked')
  })

  it('refuses another architecture and a missing address', async () => {
    const { from, install } = await setUp()
    expect(await install()).toMatchObject({ code: 1, output: expect.stringContaining('Add --server URL') })
    writeFileSync(join(from, 'architecture'), 'x64\n')
    expect(await install()).toMatchObject({ code: 1, output: expect.stringContaining('this package is for x64') })
  })
})
