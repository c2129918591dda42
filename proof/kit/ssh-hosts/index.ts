import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { randomSeedEnv } from '../seeded-random.ts'

/** Returns the address of a simulated SSH host. Addresses differ, because a worker limits connections per address. */
export const sshAddress = (i: number): string =>
  `127.${1 + Math.floor(i / 62_500)}.${Math.floor(i / 250) % 250}.${1 + (i % 250)}`

/** Starts simulated SSH hosts as a separate process. It listens on all addresses of 127.0.0.0/8. */
export const startSshHosts = async () => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('process.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...randomSeedEnv() },
  })
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.once('data', (text: Buffer) => resolve(Number(String(text))))
    child.once('exit', (code) => reject(new Error(`the SSH hosts exited with code ${code}`)))
  })
  return {
    port,
    pid: child.pid as number,
    /** Sets the response time of the hosts, plus or minus half. */
    slowTo: (milliseconds: number): boolean => child.send(milliseconds),
    /** Returns how often each host was read so far, by user name. */
    reads: (): Promise<Record<string, number>> =>
      new Promise((resolve) => {
        child.once('message', (counts) => resolve(counts as Record<string, number>))
        child.send('reads')
      }),
    [Symbol.dispose]: (): void => void child.kill('SIGKILL'),
  }
}

/** Measures the processor time of one `ssh host true` of OpenSSH in milliseconds, averaged over `runs`. */
export const bareSshMs = (port: number, runs: number): number => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-ssh-'))
  try {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, 'key')])
    const options = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=QUIET']
    const ssh = `ssh ${options.join(' ')} -i ${join(dir, 'key')} -p ${port} bench@127.0.0.1 true >/dev/null`
    const times = execFileSync('sh', ['-c', `for i in $(seq ${runs}); do ${ssh}; done; times`]).toString()
    // The second line of `times` has the processor time of child processes, as `0m1.23s 0m0.45s`.
    const spent = [...(times.trim().split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)]
    return spent.reduce((sum, [, minutes, rest]) => sum + Number(minutes) * 60_000 + Number(rest) * 1_000, 0) / runs
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
