import { Button } from '@mantine/core'
import type { Channel } from '@portcullis/contract'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Quiet, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityLine, SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { StepList } from '@portcullis/platform/console/ui/steps/StepList.tsx'
import { faultsOfFailure } from './draft.ts'
import { strings } from './strings.ts'
import type { GroupDraft } from './useGroupDraft.ts'

/** Sends a real message by a channel with the entered values, and shows the result of each step. */
export const ChannelTest = ({ channel, entry }: { channel: Channel; entry: GroupDraft }) => {
  const test = entry.test?.channel === channel ? entry.test : null
  return (
    <Stack gap={8} breaks aria-busy={test?.busy === true}>
      <Row wrap gap={12}>
        {test?.busy === true ? (
          <Button size="compact-sm" variant="default" onClick={entry.stop}>
            {strings.stopTest}
          </Button>
        ) : (
          <Button size="compact-sm" variant="default" onClick={() => void entry.runTest(channel)}>
            {strings.sendTest}
          </Button>
        )}
        <Quiet small>{strings.testHelp}</Quiet>
      </Row>
      <Stack aria-live="polite" gap={8}>
        {test?.busy === true ? <StepList steps={[{ key: 'run', words: strings.testing, state: 'running' }]} /> : null}
        {test === null || test.failure === null ? null : Object.keys(faultsOfFailure(test.failure)).length > 0 ? (
          <SeverityLine severity="amber" small>
            <span>{strings.notTested}</span>
          </SeverityLine>
        ) : (
          <ErrorState failure={test.failure} inline />
        )}
        {test === null || test.result === null ? null : (
          <>
            <StepList
              steps={test.result.steps.map(({ step, ok, message }, index) => ({
                key: `${index}`,
                words: step,
                state: ok ? 'done' : 'failed',
                seen: message,
              }))}
            />
            <Row as="p" align="baseline" small>
              {test.result.ok ? null : <SeverityShape severity="amber" />}
              <strong>{test.result.ok ? strings.testPassed : strings.testFailed}</strong>
            </Row>
          </>
        )}
      </Stack>
    </Stack>
  )
}
