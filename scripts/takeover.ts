/** Reads the takeover matrix from docs/security/takeover.md: its cells, notes, and controls with their tests. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'

export interface NamedTest {
  /** Path from the root of the checkout. */
  file: string
  /** Titles of the suites and of the test, joined by ` > `, as Vitest prints them. */
  name: string
}

export interface Cell {
  attacker: string
  goal: string
  /** `–` if the goal does not apply. */
  verdict: string
  /** Numbers of the controls. */
  controls: number[]
  /** Number of the note. */
  note: number | undefined
}

/** Returns the items of a numbered list, whose numbers must be 1, 2, 3 … */
const itemsOf = (section: string): string[] =>
  [...section.matchAll(/^(\d+)\. (.*)$/gm)].map(([, number, text], index) => {
    if (Number(number) !== index + 1) throw new Error(`Item ${number} must have the number ${index + 1}.`)
    return text as string
  })

const cellOf = (attacker: string, goal: string, text: string): Cell => {
  const [, verdict = '', links = '', note] =
    /^([^[(]*?)((?: \[\d+\]\(#control-\d+\))*)(?: \((\d+)\))?$/.exec(text) ?? []
  const controls = [...links.matchAll(/\[(\d+)\]\(#control-(\d+)\)/g)].map(([, shown, linked]) =>
    shown === linked ? Number(shown) : Number.NaN,
  )
  return {
    attacker,
    goal,
    verdict: verdict.replaceAll('*', ''),
    controls,
    note: note === undefined ? note : Number(note),
  }
}

export const readMatrix = () => {
  const [head = '', notes = '', controls = ''] = readFileSync(
    join(ROOT, 'docs', 'security', 'takeover.md'),
    'utf8',
  ).split(/^## (?:Notes|Controls)$/m)
  const [titles = [], , ...rows] = [...head.matchAll(/^\| (.*) \|$|^\|---.*$/gm)].map(([, row = '']) =>
    row.split(' | '),
  )
  const cells = rows.flatMap(([attacker = '', ...texts]) =>
    texts.map((text, index) => cellOf(attacker.replaceAll('**', ''), titles[index + 1] ?? '', text)),
  )
  return {
    cells,
    /** Each note is `**Attacker, goal.** Limit. *Response:* …`. */
    notes: itemsOf(notes),
    controls: itemsOf(controls).map((text, index) => ({
      text,
      isLinked: text.startsWith(`<a id="control-${index + 1}"></a>`),
      tests: [...text.matchAll(/`([^`]+)`, “([^”]+)”/g)].map(([, file = '', name = '']): NamedTest => ({ file, name })),
    })),
  }
}

/** All tests that prove the takeover matrix. */
export const namedTests = (): NamedTest[] => readMatrix().controls.flatMap(({ tests }) => tests)
