// Builds ops/docker/Dockerfile without Docker: its COPY, and its RUN with npm or node, stage by stage, in a folder.
// `node scripts/try-image.mjs FOLDER` leaves the last stage there. Other programs are those of this machine.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { ROOT, say } from './bootstrap/say.mjs'

/** Parses the instructions of a Dockerfile as `{word, text}`, with continuation lines joined. */
export const instructionsOf = (text) =>
  text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => /^([A-Z]+)\s+(.*)$/.exec(line.trim()))
    .filter((match) => match !== null)
    .map(([, word, rest]) => ({ word, text: rest.replace(/\s+/g, ' ').trim() }))

/** Creates a filter for the rules of a .dockerignore: the last rule that matches a path or a parent folder decides. */
export function allowedBy(rules) {
  const lines = rules.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const tests = lines.map((line) => {
    const isBack = line.startsWith('!')
    const pattern = (isBack ? line.slice(1) : line).replace(/[.+^${}()|[\]\\]/g, '\\$&')
    const glob = pattern.replace(/\*\*\/|\*\*|\*/g, (stars) =>
      stars === '**/' ? '(.*/)?' : stars === '**' ? '.*' : '[^/]*',
    )
    return { isBack, fits: new RegExp(`^${glob}(/.*)?$`) }
  })
  return (path) => tests.findLast(({ fits }) => fits.test(path))?.isBack !== false
}

/** Parses `COPY a b dir/` into sources, target and the source stage. */
export function copyOf(text) {
  const from = /^--from=(\S+) /.exec(text)?.[1]
  const parts = text.replace(/^--\S+ /, '').split(' ')
  return { from, sources: parts.slice(0, -1), target: parts.at(-1) }
}

function tryImage(folder) {
  const isAllowed = allowedBy(readFileSync(join(ROOT, '.dockerignore'), 'utf8'))
  const stages = new Map()
  let stage = ''
  for (const { word, text } of instructionsOf(readFileSync(join(ROOT, 'ops/docker/Dockerfile'), 'utf8'))) {
    if (word === 'FROM') {
      const name = / AS (\S+)$/.exec(text)?.[1] ?? 'image'
      stage = join(folder, name)
      stages.set(name, stage)
      mkdirSync(stage, { recursive: true })
    } else if (word === 'COPY') {
      const { from, sources, target } = copyOf(text)
      const base = from === undefined ? ROOT : stages.get(from)
      for (const source of sources) {
        const path = join(base, source.replace(/^\/opt\/portcullis(\/|$)/, ''))
        if (from === undefined && !isAllowed(source)) throw new Error(`.dockerignore excludes ${source}`)
        if (!existsSync(path)) throw new Error(`COPY ${source}: the file does not exist`)
        const name = sources.length > 1 || (target.endsWith('/') && !statSync(path).isDirectory())
        cpSync(path, name ? join(stage, target, path.split('/').at(-1)) : join(stage, target), {
          recursive: true,
          verbatimSymlinks: true,
          filter: (file) => from !== undefined || relative(ROOT, file) === source || isAllowed(relative(ROOT, file)),
        })
      }
    } else if (word === 'RUN' && /^(npm|node) /.test(text)) {
      say(`RUN ${text}`)
      const done = spawnSync('sh', ['-c', text], { cwd: stage, stdio: ['ignore', 'inherit', 'inherit'] })
      if (done.status !== 0) throw new Error(`RUN exited with code ${done.status}: ${text}`)
    } else say(`skipped: ${word} ${text.slice(0, 90)}`)
  }
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) throw new Error('Usage: node scripts/try-image.mjs FOLDER')
  tryImage(resolve(folder))
}
