import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { PlainButton } from '@portcullis/platform/console/ui/PlainButton.tsx'
import type { Line } from '../shared/line.ts'
import { type Decision, type Step, stepsOf } from './steps.ts'

export interface AlertStepsProps {
  line: Line
  /** Number of steps to offer; default all. */
  most?: number
  tabIndex?: number
  decide: (line: Line, effect: Decision) => void
}

/** Buttons for the next steps of an alert. A decision opens the same dialog as everywhere, with a preview. */
export const AlertSteps = ({ line, most, tabIndex, decide }: AlertStepsProps) => {
  const { session } = useServices()
  if (line.state === 'closed') return null
  return stepsOf(line, session.may('fleet:write'))
    .slice(0, most)
    .map((step: Step) =>
      step.decide === null ? (
        <PlainButton key={step.label} href={step.href} tabIndex={tabIndex}>
          {step.label}
        </PlainButton>
      ) : (
        <Button
          key={step.label}
          size="compact-xs"
          variant="default"
          tabIndex={tabIndex}
          onClick={() => decide(line, step.decide)}
        >
          {step.label}
        </Button>
      ),
    )
}
