/** The size of the console's first load, from its build. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { fromRoot } from './root.ts'

/** Limit of the scripts that the first page loads, in kB of gzip. */
export const mostScriptKilobytes = 250

const builtConsole = fromRoot('build/console')

/** Returns true if the console is built. */
export const isConsoleBuilt = (): boolean => existsSync(join(builtConsole, 'index.html'))

/** Returns the sizes of the first load in kB of gzip: the page, its styles, its scripts. */
export const firstLoad = (dir = builtConsole) => {
  const page = readFileSync(join(dir, 'index.html'))
  const kilobytes = (content: Buffer): number => gzipSync(content, { level: 9 }).length / 1_000
  const files = [...page.toString('utf8').matchAll(/<(?:script|link)[^>]*(?:src|href)="\/(assets\/[^"]+)"/g)].map(
    (match) => match[1] as string,
  )
  const sum = (suffix: string): number =>
    files
      .filter((file) => file.endsWith(suffix))
      .reduce((total, file) => total + kilobytes(readFileSync(join(dir, file))), 0)
  return { files, page: kilobytes(page), styles: sum('.css'), scripts: sum('.js') }
}
