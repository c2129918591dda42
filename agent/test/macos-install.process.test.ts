import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
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
  const folders = [
    'private/var/log',
    'private/var/db',
    'private/etc',
    'Library/LaunchDaemons',
    'usr/local/bin',
    'usr/local/lib',
  ]
  for (const dir of [from, bin, ...folders.map((name) => join(root, name))]) mkdirSync(dir, { recursive: true })
  for (const name of ['etc', 'var']) symlinkSync(`private/${name}`, join(root, name))
  const script = (path: string, text: string) => writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  for (const name of ['install.sh', 'daemon.sh', 'portcullis-agent.sh', 'org.portcullis.agent.plist']) {
    cpSync(join(sources, name), join(from, name))
    const text = readFileSync(join(from, name), 'utf8')
    writeFileSync(
      join(from, name),
      text.replace(/(?<![\w"])\/(?:usr\/local|etc|var|Library|private|opt)(?=[/ ])/g, `${root}$&`),
    )
  }
  script(join(from, 'node'), `exec ${process.execPath} "$@"`)
  writeFileSync(join(from, 'architecture'), 'arm64\n')
  for (const name of ['LICENSE', 'NODE-LICENSE', 'THIRD-PARTY-LICENSES.md']) writeFileSync(join(from, name), '')
  cpSync(bundledAgent(null, macosMain), join(from, 'agent.cjs'))
  const launched = join(root, 'launchctl.log')
  script(join(bin, 'uname'), 'if [ "$1" = -s ]; then echo Darwin; else echo arm64; fi')
  script(join(bin, 'id'), 'echo 0')
  // Everything belongs to root and only the test's folders can be unsafe, except for the path in the file `foreign`.
  const foreign = join(root, 'foreign')
  writeFileSync(foreign, '')
  script(
    join(bin, 'ls'),
    `for path; do :; done
case "$path" in ${root}/*) ;; *) path=/ ;; esac
uid=0; [ "$path" != "$(cat ${foreign})" ] || uid=501
set -- $(/bin/ls -ldn "$path")
echo "$1 $2 $uid 0"`,
  )
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
  /** Starts what launchd starts. */
  const startDaemon = () => {
    const plist = readFileSync(join(root, 'Library/LaunchDaemons/org.portcullis.agent.plist'), 'utf8')
    const [, , program = ''] = /<array>([\s\S]*?)<\/array>/.exec(plist)?.[1]?.match(/(?<=<string>)[^<]*/g) ?? []
    const child = spawn('/bin/sh', ['-c', program.replaceAll('&gt;', '>')], { env: more })
    onTestFinished(() => void child.kill('SIGKILL'))
    return { child, exit: new Promise((done) => child.on('exit', (code) => done(code))) }
  }
  const daemonLog = () => readFileSync(join(root, 'var/log/portcullis-agent.log'), 'utf8')
  const at = (path: string) => join(root, path)
  const launchedSoFar = () => (existsSync(launched) ? readFileSync(launched, 'utf8') : '')
  return { peer, at, root, from, token, foreign, install, more, startDaemon, daemonLog, launched: launchedSoFar }
}

describe('the package for macOS', { timeout: 60_000 }, () => {
  it('enrols the host, starts the daemon, and removes everything again', async () => {
    const { peer, root, token, install, more, launched } = await setUp()
    const done = await install('--server', peer.url, '--token-file', token)
    expect([done.code, done.output]).toEqual([0, expect.stringContaining('The agent runs and only monitors')])
    expect(peer.seen.enrols[0]?.facts).toMatchObject({ osName: 'macOS', enforcement: 'observe' })
    expect(launched()).toContain(`bootstrap system ${root}/Library/LaunchDaemons/org.portcullis.agent.plist`)
    const status = spawnSync(join(root, 'opt/portcullis-agent/portcullis-agent'), ['status'], {
      env: more,
      encoding: 'utf8',
    })
    expect(status.stdout).toContain(peer.only().id)
    // An upgrade needs no token.
    expect((await install()).code).toBe(0)
    expect(peer.seen.enrols).toHaveLength(1)
    expect((await install('--uninstall')).code).toBe(0)
    for (const path of ['opt/portcullis-agent', 'var/db/portcullis-agent', 'etc/portcullis-agent'])
      expect([path, existsSync(join(root, path))]).toEqual([path, false])
  })

  it('runs a daemon that stops on SIGTERM and does not restart after a revocation', async () => {
    const { peer, token, install, startDaemon, daemonLog } = await setUp()
    expect((await install('--server', peer.url, '--token-file', token)).code).toBe(0)
    const before = peer.seen.checkIns.length
    const running = startDaemon()
    await until('check-in', () => peer.seen.checkIns.length > before, 30_000)
    running.child.kill('SIGTERM')
    expect(await running.exit).toBe(0)
    peer.only().revoked = true
    expect(await startDaemon().exit).toBe(0)
    expect(daemonLog()).toContain('revoked')
  })

  it('moves an agent of an earlier release out of the folders of Homebrew', async () => {
    const { peer, token, at, install } = await setUp()
    for (const path of ['usr/local/lib/portcullis-agent/node', 'usr/local/bin/portcullis-agent']) {
      mkdirSync(dirname(at(path)), { recursive: true })
      writeFileSync(at(path), '')
    }
    expect((await install('--server', peer.url, '--token-file', token)).code).toBe(0)
    for (const path of ['usr/local/lib', 'usr/local/bin'])
      expect(existsSync(at(`${path}/portcullis-agent`)), path).toBe(false)
    // A user made the folder a link to one of root.
    mkdirSync(at('Library/portcullis-agent'))
    rmSync(at('usr/local/lib'), { recursive: true })
    symlinkSync(at('Library'), at('usr/local/lib'))
    expect(await install()).toMatchObject({ code: 0, output: expect.stringContaining('remove') })
    expect((await install('--uninstall')).code).toBe(0)
    expect(existsSync(at('Library/portcullis-agent'))).toBe(true)
  })

  it('copies no file that a link in the package names', async () => {
    const { peer, token, at, from, install } = await setUp()
    writeFileSync(at('secret'), 'of root', { mode: 0o600 })
    rmSync(join(from, 'LICENSE'))
    symlinkSync(at('secret'), join(from, 'LICENSE'))
    expect(await install('--server', peer.url, '--token-file', token)).toMatchObject({
      code: 1,
      output: expect.stringContaining('LICENSE is not a file'),
    })
    expect(existsSync(at('opt/portcullis-agent/LICENSE'))).toBe(false)
  })

  it.each([
    ['opt', 'opt/portcullis-agent'],
    ['opt/portcullis-agent', 'opt/portcullis-agent'],
    ['private/etc', 'private/etc'],
    ['Library/LaunchDaemons', 'Library/LaunchDaemons'],
  ])('is not installed if others can change %s', async (path, made) => {
    const { peer, token, at, foreign, install, launched } = await setUp()
    mkdirSync(at(made), { recursive: true })
    const refused = async (message: string) => {
      expect(await install('--server', peer.url, '--token-file', token)).toMatchObject({
        code: 1,
        output: expect.stringMatching(message),
      })
      expect([launched(), peer.seen.enrols, existsSync(at('opt/portcullis-agent/node'))]).toEqual(['', [], false])
    }
    for (const mode of [0o775, 0o757]) {
      chmodSync(at(path), mode)
      await refused(`other users can write to ${at(path)}\\. Run: sudo chmod go-w`)
    }
    chmodSync(at(path), 0o755)
    writeFileSync(foreign, at(path))
    await refused(`${at(path)} belongs to the user with the id 501\\. Run: sudo chown root:wheel`)
    writeFileSync(foreign, '')
    renameSync(at(path), at('elsewhere'))
    symlinkSync(at('elsewhere'), at(path))
    await refused(`${at(path)} is a symbolic link`)
  })

  it.each(['opt', 'opt/portcullis-agent', 'opt/portcullis-agent/agent.cjs'])(
    'is not started if others can change %s',
    async (path) => {
      const { peer, token, at, foreign, install, startDaemon, daemonLog } = await setUp()
      expect((await install('--server', peer.url, '--token-file', token)).code).toBe(0)
      const before = peer.seen.checkIns.length
      const refused = async () => {
        expect(await startDaemon().exit).toBe(1)
        expect(daemonLog()).toContain(`root must own ${at(path)}, and no one else may write to it`)
      }
      chmodSync(at(path), 0o775)
      await refused()
      chmodSync(at(path), 0o755)
      writeFileSync(foreign, at(path))
      await refused()
      writeFileSync(foreign, '')
      renameSync(at(path), at('elsewhere'))
      symlinkSync(at('elsewhere'), at(path))
      await refused()
      expect(peer.seen.checkIns).toHaveLength(before)
    },
  )

  it('refuses another architecture and a missing address', async () => {
    const { from, install } = await setUp()
    expect(await install()).toMatchObject({ code: 1, output: expect.stringContaining('Add --server URL') })
    writeFileSync(join(from, 'architecture'), 'x64\n')
    expect(await install()).toMatchObject({ code: 1, output: expect.stringContaining('this package is for x64') })
  })
})
