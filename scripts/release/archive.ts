/** Writes archives whose bytes depend only on the contents and the given time. */
import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { basename, dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'

/**
 * Writes the folder `dir` as `file`, a tar.xz archive with `dir`'s name as its only top-level entry. Order, owners, times
 * and permissions do not depend on the machine. xz splits its input into blocks of a fixed size, so the number of cores
 * does not change the result.
 *
 * @param seconds time of all files, since 1970
 * @param level 0 (fast) to 9 (small)
 */
export const writeArchive = async (dir: string, file: string, seconds: number, level: number): Promise<void> => {
  const tar = spawn(
    'tar',
    [
      ...['--sort=name', `--mtime=@${seconds}`, '--owner=0', '--group=0', '--numeric-owner', '--format=gnu'],
      ...['--mode=u+rwX,go+rX,go-w,a-s', '-C', dirname(dir), '-c', basename(dir)],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const xz = spawn('xz', ['--compress', '--stdout', `-${level}`, '--threads=2', '--block-size=24MiB'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const codes = [tar, xz].map((child) => new Promise((done) => child.once('close', done)))
  await Promise.all([pipeline(tar.stdout, xz.stdin), pipeline(xz.stdout, createWriteStream(file))])
  for (const code of await Promise.all(codes)) if (code !== 0) throw new Error(`${basename(file)} could not be written`)
}
