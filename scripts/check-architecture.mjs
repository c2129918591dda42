// Checks that ARCHITECTURE.md is short and current: it names every capability in order, and its four paths name existing
// files and functions. Checks the checkout or the given folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'
import { TIERS } from './tiers.cjs'

const MAX_WORDS = 1800

const tree = resolve(process.argv[2] ?? ROOT)
const file = join(tree, 'ARCHITECTURE.md')
const wrong = existsSync(file)
  ? faultsOf(readFileSync(file, 'utf8'))
  : ['ARCHITECTURE.md is missing: write it (CONTRIBUTING.md describes its contents)']
for (const line of wrong) console.error(line)
process.exitCode = wrong.length > 0 ? 1 : 0

function faultsOf(doc) {
  const words = doc.trim().split(/\s+/).length
  return [
    ...(words > MAX_WORDS ? [`ARCHITECTURE.md has ${words} words; ${MAX_WORDS} is the limit: delete first`] : []),
    ...faultsOfCapabilities(doc),
    ...faultsOfPaths(doc),
  ]
}

function faultsOfCapabilities(doc) {
  const folder = join(tree, 'features')
  const onDisk = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []))
    : []
  const named = [...new Set([...doc.matchAll(/`features\/([a-z-]+)\/`/g)].map((match) => match[1]))]
  const inOrder = TIERS.flat().filter((name) => named.includes(name))
  const misplaced = named.filter((name) => inOrder.includes(name)).find((name, index) => name !== inOrder[index])
  return [
    ...(misplaced === undefined ? [] : [`the codemap names \`features/${misplaced}/\` in another place than TIERS`]),
    ...onDisk.filter((name) => !named.includes(name)).map((name) => `the codemap does not name \`features/${name}/\``),
    ...named
      .filter((name) => !onDisk.includes(name))
      .map((name) => `the codemap names \`features/${name}/\`, which is gone`),
  ]
}

/** A path names a file in backticks, followed by a function in that file. */
function faultsOfPaths(doc) {
  const section = /^## Four paths[^\n]*\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(doc)?.[1]
  if (section === undefined) return ['ARCHITECTURE.md has no section "Four paths"']
  const steps = [...section.matchAll(/`([\w./-]+\.tsx?)`(?:\s*[,(]\s*`(\w+)`)?/g)]
  const paths = section.split(/^### /m).length - 1
  return [
    ...(paths === 4 ? [] : [`the section "Four paths" describes ${paths}`]),
    ...steps.flatMap(([, path, name]) => {
      if (!existsSync(join(tree, path))) return [`the four paths name ${path}, which is gone`]
      if (name !== undefined && !new RegExp(`\\b${name}\\b`).test(readFileSync(join(tree, path), 'utf8')))
        return [`the four paths name ${name}, which ${path} does not have`]
      return []
    }),
  ]
}
