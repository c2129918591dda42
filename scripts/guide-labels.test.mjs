import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './bootstrap/say.mjs'

/** Labels of other programs that the guides describe, by their first word or words. */
const OTHER_PROGRAMS = [
  // Windows and its Group Policy.
  ...['Computer Configuration', 'Software Settings', 'Software installation', 'Assigned', 'Apps', 'Windows Logs'],
  ...['Application', 'Uninstall', 'Immediately uninstall', 'Portcullis Agent', 'Advanced Audit Policy Configuration'],
  ...['Detailed Tracking', 'Audit PNP Activity'],
  // Grafana, Cisco ISE, Active Directory, Entra, LemonLDAP::NG.
  ...['Dashboards', 'Import', 'Administration', 'API Settings', 'Admin Access', 'Operations', 'Policy List'],
  ...['Adaptive Network Control', 'Session:ANCPolicy EQUALS', 'Identity Management', 'Properties'],
  ...['Endpoint Custom Attributes', 'Domain Users', 'Groups assigned to the application', 'Always'],
]

const plain = (text) =>
  text
    .replace(/\s+/g, ' ')
    .replace(/<[^>]+>/g, '')
    .trim()

/** Texts of the product: string literals of the console, the contract and the server. */
const texts = globSync('{console,contract,platform,features,server,domain}/**/*.{ts,tsx}', { cwd: ROOT })
  .filter((file) => !file.includes('.test.'))
  .flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/'((?:[^'\\\n]|\\.)+)'|"((?:[^"\\\n]|\\.)+)"|`([^`]+)`/g)].map(
      ([, one, two, three]) => plain((one ?? two ?? three).replaceAll("\\'", "'")),
    ),
  )
const starts = new Set(
  texts.flatMap((text) => [
    text,
    // A guide may quote the beginning of a sentence.
    ...[...text.matchAll(/[^\p{L}\p{N}]/gu)].map(({ index }) => text.slice(0, index)),
  ]),
)
/** Texts with values: `Rule {id}`. Those without words of their own match anything. */
const patterns = texts
  .filter((text) => /[{$]/.test(text) && text.replace(/\$?\{[^{}]*\}/g, '').replace(/[^\p{L}]/gu, '').length > 8)
  .map(
    (text) =>
      new RegExp(
        `^${text
          .split(/\$?\{[^{}]*\}/)
          .map((part) => RegExp.escape(part))
          .join('.+')}`,
        'u',
      ),
  )

const exists = (label) => starts.has(label) || patterns.some((pattern) => pattern.test(label))

/** Labels in a guide: emphasised text that starts with a capital letter, and each step of a path such as `*Settings → Tags*`. */
const labelsOf = (guide) =>
  [...guide.replace(/^```.*?^```/gms, '').matchAll(/(?<![\w*])\*(?!\*)([^*]+?)\*(?![\w*])/g)]
    .flatMap(([, text]) => plain(text).split(' → '))
    .map((label) => label.replace(/[….:]+$/, ''))
    .filter((label) => /^\p{Lu}/u.test(label) && !label.includes('…') && !/ [NM]\b/.test(label))

it('guides name only labels that the product shows', () => {
  const unknown = globSync('docs/guide/*.md', { cwd: ROOT }).flatMap((file) =>
    labelsOf(readFileSync(join(ROOT, file), 'utf8'))
      .filter((label) => !exists(label) && !OTHER_PROGRAMS.some((other) => label.startsWith(other)))
      .map((label) => `${file}: ${label}`),
  )
  expect(unknown).toEqual([])
})

it('finds a label that no screen shows', () => {
  expect(labelsOf('Open *Settings → Gadgets…* and choose *Export as CSV*.').filter((label) => !exists(label))).toEqual([
    'Gadgets',
  ])
})
