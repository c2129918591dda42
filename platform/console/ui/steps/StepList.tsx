import type { ReactNode } from 'react'
import { DeviceText } from '../DeviceText.tsx'
import { Icon } from '../icons.tsx'
import { Columns, Quiet, Stack } from '../layout/layout.tsx'
import { pageWords as strings } from '../words.ts'

/** One step of a connection test. */
export interface StepView {
  key: string
  words: string
  /** `open`: not reached. */
  state: 'done' | 'failed' | 'running' | 'open'
  /** The observation, or how to fix the problem. */
  seen?: string
  /** The duration, or why the step was not reached. */
  aside?: ReactNode
}

const marks = {
  done: <Icon name="check" size={14} title={strings.done} />,
  failed: <Icon name="close" size={14} title={strings.failed} />,
  running: <Icon name="refresh" size={14} title={strings.inProgress} />,
  open: <span aria-hidden="true">·</span>,
} as const

/** Lists the steps of a test with their results. */
export const StepList = ({ steps }: { steps: readonly StepView[] }) => (
  <Stack as="ol" gap={4} small>
    {steps.map(({ key, words, state, seen = '', aside }) => (
      <Columns
        key={key}
        as="li"
        template="16px minmax(0, 1fr) auto"
        align="baseline"
        gap={8}
        data-open={state === 'open' || undefined}
        aria-current={state === 'running' ? 'step' : undefined}
      >
        {marks[state]}
        <span>
          {words}
          {seen === '' ? null : (
            <Quiet block breaks>
              <DeviceText value={seen} />
            </Quiet>
          )}
        </span>
        {aside === undefined ? null : <Quiet num>{aside}</Quiet>}
      </Columns>
    ))}
  </Stack>
)
