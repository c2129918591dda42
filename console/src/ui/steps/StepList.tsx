import type { ReactNode } from 'react'
import { DeviceText } from '../DeviceText.tsx'
import { Icon } from '../icons.tsx'
import classes from './StepList.module.css'
import { strings } from './strings.ts'

/** One step of a test, as it went or is to go. */
export interface StepView {
  key: string
  words: string
  /** `open`: not reached, or not yet. */
  state: 'done' | 'failed' | 'running' | 'open'
  /** What was seen, or what helps. */
  seen?: string
  /** At the end of the line: how long it took, or why it was not reached. */
  aside?: ReactNode
}

const marks = {
  done: <Icon name="check" size={14} title="done" />,
  failed: <Icon name="close" size={14} title="failed" />,
  running: <Icon name="refresh" size={14} title={strings.underWay} />,
  open: <span aria-hidden="true">·</span>,
} as const

/** The steps of a test, one a line: how each went, what was seen. */
export const StepList = ({ steps }: { steps: readonly StepView[] }) => (
  <ol className={classes.steps}>
    {steps.map(({ key, words, state, seen = '', aside }) => (
      <li
        key={key}
        className={classes.step}
        data-open={state === 'open' || undefined}
        aria-current={state === 'running' ? 'step' : undefined}
      >
        {marks[state]}
        <span>
          {words}
          {seen === '' ? null : (
            <span className={classes.seen}>
              <DeviceText value={seen} />
            </span>
          )}
        </span>
        {aside === undefined ? null : <span className={classes.aside}>{aside}</span>}
      </li>
    ))}
  </ol>
)
