import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityLine, SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { StepList } from '@portcullis/platform/console/ui/steps/StepList.tsx'
import { pageWords as strings } from '@portcullis/platform/console/ui/words.ts'
import type { ConfigTested } from '#features/contract.ts'

export interface TestOutcomeProps {
  busy: boolean
  result: ConfigTested | null
  failure: unknown
  /** Text if fields show the failure; otherwise null. */
  atFields: string | null
  gap: number
  /** Returns a message with the labels of the form. */
  shown?: (message: string) => string
}

/** Shows the progress and the result of a test of entered values. */
export const TestOutcome = ({ busy, result, failure, atFields, gap, shown = (text) => text }: TestOutcomeProps) => (
  <Stack aria-live="polite" gap={gap}>
    {busy ? <StepList steps={[{ key: 'run', words: strings.testing, state: 'running' }]} /> : null}
    {atFields === null ? (
      <ErrorState failure={failure} inline />
    ) : (
      <SeverityLine severity="amber" small>
        <span>{atFields}</span>
      </SeverityLine>
    )}
    {result === null ? null : (
      <>
        <StepList
          steps={result.steps.map(({ step, ok, message }, index) => ({
            key: `${index}`,
            words: step,
            state: ok ? 'done' : 'failed',
            seen: shown(message),
          }))}
        />
        <Row as="p" align="baseline" small>
          {result.ok ? null : <SeverityShape severity="amber" />}
          <strong>{result.ok ? strings.testPassed : strings.testFailed}</strong>
        </Row>
      </>
    )}
  </Stack>
)
