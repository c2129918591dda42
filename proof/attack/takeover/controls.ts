import { agentControls } from './controls/agent.ts'
import { approvalControls } from './controls/approvals.ts'
import { fleetControls } from './controls/fleet.ts'
import { peopleControls } from './controls/people.ts'
import { storageControls } from './controls/storage.ts'

/**
 * What a control does, one sentence without the final period, and the tests of all its clauses: `file > suite > title`, as
 * Vitest prints them.
 */
type Control = readonly [does: string, ...tests: [string, ...string[]]]

/** Every control that a cell of the takeover matrix relies on. */
export const controls = {
  ...peopleControls,
  ...approvalControls,
  ...fleetControls,
  ...agentControls,
  ...storageControls,
} as const satisfies Record<string, Control>

export type ControlId = keyof typeof controls

export interface NamedTest {
  /** Path from the root of the checkout. */
  file: string
  /** Titles of the suites and of the test, joined by ` > `. */
  name: string
}

export const testsOf = (id: ControlId): NamedTest[] => {
  const [, ...tests] = controls[id]
  return tests.map((text) => {
    const [file = '', ...titles] = text.split(' > ')
    return { file, name: titles.join(' > ') }
  })
}

/** All tests that prove the takeover matrix. */
export const namedTests = (): NamedTest[] => (Object.keys(controls) as ControlId[]).flatMap(testsOf)
