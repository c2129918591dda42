/** Writes archives whose bytes depend only on the contents and the given time. */
import { spawn } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Options of tar that remove everything that depends on the machine: order, owners, times and permissions. */
export const tarOptions = (seconds: number, owner = 0, mode = 'u+rwX,go+rX,go-w,a-s'): string[] => [
  ...['--sort=name', `--mtime=@${seconds}`, `--owner=${owner}`, `--group=${owner}`, '--numeric-owner', '--format=gnu'],
  `--mode=${mode}`,
]

/** Starts tar and returns its output, and a promise that fails if tar does. */
export const startTar = (args: readonly string[]): { output: Readable; done: Promise<void> } => {
  const tar = spawn('tar', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  return { output: tar.stdout, done: ended(tar, 'tar') }
}

/**
 * Writes the folder `dir` as `file`, a tar.xz archive with `dir`'s name as its only top-level entry.
 *
 * @param seconds time of all files, since 1970
 * @param level 0 (fast) to 9 (small)
 * @param dictionary distance in MiB over which repeated contents are found. Unpacking needs as much memory. Default: 24
 */
export const writeArchive = async (
  dir: string,
  file: string,
  seconds: number,
  level: number,
  dictionary?: number,
): Promise<void> => {
  const tar = startTar([...tarOptions(seconds), '-C', dirname(dir), '-c', basename(dir)])
  await Promise.all([tar.done, compress(tar.output, file, level, dictionary)])
}

/** Compresses a file with xz. */
export const compressFile = (from: string, to: string, level: number): Promise<void> =>
  compress(createReadStream(from), to, level)

/** xz splits its input into blocks of a fixed size, so the number of cores does not change the result. */
const compress = async (input: Readable, file: string, level: number, dictionary?: number): Promise<void> => {
  const how =
    dictionary === undefined
      ? [`-${level}`, '--threads=2', '--block-size=24MiB']
      : ['--threads=1', `--lzma2=preset=${level},dict=${dictionary}MiB`]
  const xz = spawn('xz', ['--compress', '--stdout', ...how], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await Promise.all([ended(xz, 'xz'), pipeline(input, xz.stdin), pipeline(xz.stdout, createWriteStream(file))])
}

const ended = (child: ReturnType<typeof spawn>, name: string): Promise<void> =>
  new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', (code) => (code === 0 ? done() : fail(new Error(`${name} exited with code ${code}`))))
  })
