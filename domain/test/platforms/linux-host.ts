import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { SysfsEntry } from '@portcullis/domain/testing'
import { posixScript } from '../../src/platforms/scripts.ts'

const shells = ['sh', 'bash', 'busybox'] as const
const hasShell = (name: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The POSIX shells on this machine. */
export const presentShells: readonly string[] = shells.filter(hasShell)

const runScript = (root: string, shell = 'sh'): Buffer => {
  const script = posixScript({ sys: join(root, 'sys'), etc: join(root, 'etc') })
  const [command, ...args] = shell === 'busybox' ? ['busybox', 'sh', '-c', script] : [shell, '-c', script]
  return execFileSync(command as string, args, { timeout: 20_000, maxBuffer: 64 * 1024 * 1024 })
}

/** Runs the real script in a shell on a fake `/sys` and `/etc`, and returns its output. */
export const pollLinux = (
  sysfs: Iterable<[path: string, content: SysfsEntry]>,
  { shell = 'sh', etc = [] }: { shell?: string; etc?: [string, string][] } = {},
): Buffer => {
  const root = mkdtempSync(join(tmpdir(), 'polled-'))
  try {
    const write = (path: string, content: SysfsEntry): void => {
      mkdirSync(dirname(path), { recursive: true })
      if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, path)
      else writeFileSync(path, content)
    }
    for (const [path, content] of sysfs) write(join(root, 'sys', path), content)
    for (const [path, content] of etc) write(join(root, 'etc', path), content)
    return runScript(root, shell)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
