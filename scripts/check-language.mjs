// Rejects the phrases that docs/glossary.md says to avoid in console, contract, guides, messages and comments.
// scripts/language-debts.json counts the remaining old uses in each file. A count may only fall (`--write`).
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'

const mayWrite = process.argv.includes('--write')
const tree = resolve(process.argv.slice(2).find((arg) => !arg.startsWith('--')) ?? ROOT)
const debtsFile = join(tree, 'scripts', 'language-debts.json')

const READ = /\.(ts|tsx|mjs|md|css)$/
/** The glossary quotes the phrases, decisions are never edited, and the record of bars quotes old names of figures. */
const NOT_READ =
  /^(docs\/(glossary\.md|adr\/|proof\/|reference\/)|scripts\/(check-language|language\.test)\.mjs|knowledge\/|server\/migrations\/|CHANGELOG\.md)/

const phrases = phrasesOf(readFileSync(join(tree, 'docs', 'glossary.md'), 'utf8'))
const pattern = new RegExp(`(?<![\\w-])(?:${phrases.map(escaped).join('|')})(?![\\w-])`, 'gi')
const debts = existsSync(debtsFile) ? JSON.parse(readFileSync(debtsFile, 'utf8')) : {}

const found = new Map()
for (const file of filesOf()) {
  // A phrase may be split by a line break and by the comment mark of the next line.
  const text = readFileSync(join(tree, file), 'utf8').replace(/\s*\n[ \t]*(?:\*|\/\/)?[ \t]*/g, ' ')
  const uses = [...text.matchAll(pattern)].map(([use]) => use.toLowerCase())
  if (uses.length > 0) found.set(file, uses)
}

const next = Object.fromEntries([...found].map(([file, uses]) => [file, uses.length]))
const risen = [...found].filter(([file, uses]) => uses.length > (debts[file] ?? 0))
const fallen = Object.entries(debts).filter(([file, count]) => (next[file] ?? 0) < count)
if (mayWrite && risen.length === 0) writeFileSync(debtsFile, `${JSON.stringify(next, null, 2)}\n`)
for (const [file, uses] of risen)
  console.error(`${file}: ${[...new Set(uses)].join(', ')}: docs/glossary.md says what to write instead`)
if (!mayWrite && risen.length === 0)
  for (const [file] of fallen) console.error(`${file}: better than scripts/language-debts.json says; run with --write`)
process.exitCode = risen.length > 0 || (!mayWrite && fallen.length > 0) ? 1 : 0

/** Returns the quoted phrases in the column "avoid" of each table. */
function phrasesOf(glossary) {
  let column = -1
  return glossary.split('\n').flatMap((line) => {
    if (!line.startsWith('|')) {
      column = -1
      return []
    }
    const cells = line.split('|').map((cell) => cell.trim())
    if (column === -1) {
      column = cells.indexOf('avoid')
      return []
    }
    return [...(cells[column] ?? '').matchAll(/"([^"]+)"/g)].map(([, phrase]) => phrase)
  })
}

function filesOf() {
  return execFileSync('git', ['ls-files', '-z'], { cwd: tree, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 })
    .split('\0')
    .filter((file) => READ.test(file) && !NOT_READ.test(file) && existsSync(join(tree, file)))
}

function escaped(text) {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')
}
