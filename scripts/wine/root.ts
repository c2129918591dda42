/** A Debian system with Wine, in which tests run the Windows build of Node. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { fetchNode } from '../bootstrap/node.mjs'
import { pristineRoot, whyNoDebianRoot } from '../release/debian-root.ts'
import { fetchKoffi } from './koffi.mjs'

/** Without a display, Wine has no windows on a screen, but message-only windows work. */
const ENVIRONMENT = `export HOME=/root WINEPREFIX=/prefix WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' XDG_RUNTIME_DIR=/run`

/** Time limit for one script of `open`. */
const SHELL_LIMIT_MS = 110_000

const DRIVE_Z = 'prefix/dosdevices/z:'

const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

const unshare = (script: string, timeoutMs: number) =>
  spawnSync('/usr/bin/unshare', ['--mount', '--pid', '--net', '--fork', '--kill-child', 'sh', '-c', script], {
    encoding: 'utf8',
    timeout: timeoutMs,
    // unshare ignores SIGTERM while it waits.
    killSignal: 'SIGKILL',
    maxBuffer: 64 * 1024 * 1024,
    env,
  })

/** Returns why this machine cannot run Windows programs, or null. */
export const whyNoWine = (): string | null => {
  const why = whyNoDebianRoot()
  if (why !== null) return why
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-overlay-'))
  try {
    for (const name of ['lower', 'upper', 'work', 'root']) mkdirSync(join(dir, name))
    const mounted = unshare(mountOverlay(dir, join(dir, 'lower')), 10_000)
    return mounted.status === 0 ? null : 'this machine cannot mount an overlay over the system with Wine'
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const mountOverlay = (dir: string, lower: string): string =>
  `set -eu; mount -t overlay overlay -o lowerdir='${lower}',upperdir='${dir}/upper',workdir='${dir}/work' '${dir}/root'`

/** Returns the folder of the system with Wine and an initialised prefix, and creates it once in about two minutes. */
const pristineWine = (): string =>
  pristineRoot('trixie-wine', 'trixie', ['wine', 'wine64'], (dir) => {
    mkdirSync(join(dir, 'prefix'))
    writeFileSync(join(dir, 'script.sh'), `${ENVIRONMENT}\nwineboot -i && wineserver -w`)
    const begin = `mount -t proc proc '${dir}/proc'; ip link set lo up; exec chroot '${dir}' /bin/sh /script.sh`
    const done = unshare(begin, 120_000)
    rmSync(join(dir, 'script.sh'))
    if (done.status !== 0) throw new Error(`wineboot failed:\n${done.stdout.slice(-1000)}${done.stderr.slice(-1000)}`)
  })

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * Creates a system with Wine that one test may change. The changes of one run, such as those to the registry, are there
 * in the next run; processes are not.
 */
export const createWineRoot = async () => {
  const node = join(await fetchNode('win-x64'), 'bin', 'node.exe')
  const koffi = await fetchKoffi()
  const pristine = pristineWine()
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-wine-'))
  // This link to / would lead searches for files in the checkout back into the checkout, so only the copy has it.
  rmSync(join(pristine, DRIVE_Z), { force: true })
  for (const name of ['upper/agent', `upper/${dirname(DRIVE_Z)}`, 'work', 'root'])
    mkdirSync(join(dir, name), { recursive: true })
  symlinkSync('/', join(dir, 'upper', DRIVE_Z))
  copyFileSync(node, join(dir, 'upper/agent/node.exe'))
  copyFileSync(koffi, join(dir, 'upper/agent/koffi.node'))

  const pathOf = (name: string): string => join(dir, 'upper/agent', name)
  /** Runs a shell script in the system, with its own processes and only the loopback network. */
  function run(script: string, { timeoutMs = 60_000 } = {}) {
    writeFileSync(join(dir, 'upper/script.sh'), `${ENVIRONMENT}\ncd /agent\n${script}\n`)
    const begin = `${mountOverlay(dir, pristine)}; mount -t proc proc '${dir}/root/proc'; ip link set lo up; exec chroot '${dir}/root' /bin/sh /script.sh`
    const done = unshare(begin, timeoutMs)
    return { status: done.status, all: `${done.stdout}${done.stderr}` }
  }

  /**
   * Starts a shell script in the system with its own processes. It uses the network of this machine, so that its programs
   * reach servers of the test. `done` resolves with the output; `stop` ends all of its processes.
   */
  function start(script: string, input: 'ignore' | 'pipe' = 'ignore') {
    writeFileSync(join(dir, 'upper/script.sh'), `${ENVIRONMENT}\ncd /agent\n${script}\n`)
    const begin = `${mountOverlay(dir, pristine)}; mount -t proc proc '${dir}/root/proc'; exec chroot '${dir}/root' /bin/sh /script.sh`
    const child = spawn('/usr/bin/unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', begin], {
      stdio: [input, 'pipe', 'pipe'],
      env,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk))
    const done = new Promise<string>((resolve) => child.on('close', () => resolve(output)))
    return {
      pid: child.pid as number,
      input: child.stdin,
      output: child.stdout as Readable,
      done,
      stop: () => {
        child.kill('SIGKILL')
        return done
      },
    }
  }

  /**
   * Starts a system that runs one script after another. Its services keep running between scripts. It uses the
   * network of this machine.
   */
  function open() {
    const shell = start(
      `wineserver -p
while IFS= read -r line; do
  ( eval "$(printf %s "$line" | base64 -d)" ) </dev/null >/agent/shell.txt 2>&1; echo "code=$?"
done`,
      'pipe',
    )
    let busy: Promise<unknown> = Promise.resolve()
    const runNext = async (script: string): Promise<{ code: number; out: string }> => {
      const printed = once(shell.output, 'data', { signal: AbortSignal.timeout(SHELL_LIMIT_MS) })
      shell.input?.write(`${Buffer.from(script).toString('base64')}\n`)
      const [text] = await printed
      return {
        code: Number(/^code=(\d+)$/m.exec(String(text))?.[1]),
        out: readFileSync(pathOf('shell.txt'), 'utf8').replaceAll('\r', ''),
      }
    }
    return {
      /** Runs a script and returns its exit code and output. Scripts run in the order of the calls. */
      run(script: string) {
        const result = busy.then(() => runNext(script))
        busy = result.catch(() => undefined)
        return result
      },
      stop: shell.stop,
    }
  }

  return {
    start,
    open,
    /** Writes a file next to node.exe. Programs find it as `Z:\agent\` and its name. */
    add(name: string, content: string | Uint8Array): void {
      mkdirSync(dirname(pathOf(name)), { recursive: true })
      writeFileSync(pathOf(name), content)
    },
    /** Copies a file next to node.exe. */
    copy(name: string, file: string): void {
      copyFileSync(file, pathOf(name))
    },
    /** Returns the text of a file next to node.exe; `''` if it is missing. */
    read: (name: string): string => (existsSync(pathOf(name)) ? readFileSync(pathOf(name), 'utf8') : ''),
    run,
    /** Runs a script that `add` wrote, and waits until Wine has saved its registry. */
    node(name: string, args: readonly string[] = [], { timeoutMs = 60_000 } = {}) {
      // Node under Wine cannot write to a pipe of Linux, so its output goes to files.
      const program = ['wine', '/agent/node.exe', `Z:\\agent\\${name}`, ...args].map(quote).join(' ')
      const { status, all } = run(`${program} </dev/null >out.txt 2>err.txt; status=$?; wineserver -w; exit $status`, {
        timeoutMs,
      })
      const [out, err] = ['out.txt', 'err.txt'].map((file) => readFileSync(pathOf(file), 'utf8')) as [string, string]
      return { status, out, all: `${all}${out}${err}` }
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}
export type WineRoot = Awaited<ReturnType<typeof createWineRoot>>
