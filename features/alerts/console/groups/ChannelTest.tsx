import { Button } from '@mantine/core'
import type { Channel } from '@portcullis/contract'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { StepList } from '@portcullis/platform/console/ui/steps/StepList.tsx'
import text from '@portcullis/platform/console/ui/text.module.css'
import { faultsOfFailure } from './draft.ts'
import classes from './notifications.module.css'
import { strings } from './strings.ts'
import type { GroupDraft } from './useGroupDraft.ts'

/** Sends a real message by a channel with the entered values, and shows the result of each step. */
export const ChannelTest = ({ channel, entry }: { channel: Channel; entry: GroupDraft }) => {
  const test = entry.test?.channel === channel ? entry.test : null
  return (
    <div className={classes.test} aria-busy={test?.busy === true}>
      <div className={classes.testHead}>
        {test?.busy === true ? (
          <Button size="compact-sm" variant="default" onClick={entry.stop}>
            {strings.stopTest}
          </Button>
        ) : (
          <Button size="compact-sm" variant="default" onClick={() => void entry.runTest(channel)}>
            {strings.sendTest}
          </Button>
        )}
        <span className={text.note}>{strings.testHelp}</span>
      </div>
      <div aria-live="polite" className={classes.testResult}>
        {test?.busy === true ? <StepList steps={[{ key: 'run', words: strings.testing, state: 'running' }]} /> : null}
        {test === null || test.failure === null ? null : Object.keys(faultsOfFailure(test.failure)).length > 0 ? (
          <p className={classes.outcome}>
            <SeverityShape severity="amber" />
            <span>{strings.notTested}</span>
          </p>
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
            <p className={classes.outcome}>
              {test.result.ok ? null : <SeverityShape severity="amber" />}
              <strong>{test.result.ok ? strings.testPassed : strings.testFailed}</strong>
            </p>
          </>
        )}
      </div>
    </div>
  )
}
