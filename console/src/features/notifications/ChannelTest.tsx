import { Button } from '@mantine/core'
import type { Channel } from '@portcullis/contract'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { SeverityShape } from '../../ui/SeverityTag.tsx'
import { StepList } from '../../ui/steps/StepList.tsx'
import text from '../../ui/text.module.css'
import { faultsOfFailure } from './draft.ts'
import classes from './notifications.module.css'
import type { GroupDraft } from './useGroupDraft.ts'

/** Sends a real message by a channel as it is entered, and shows how each step went. */
export const ChannelTest = ({ channel, entry }: { channel: Channel; entry: GroupDraft }) => {
  const trial = entry.trial?.channel === channel ? entry.trial : null
  return (
    <div className={classes.test} aria-busy={trial?.busy === true}>
      <div className={classes.testHead}>
        {trial?.busy === true ? (
          <Button size="compact-sm" variant="default" onClick={entry.stop}>
            Stop the test
          </Button>
        ) : (
          <Button size="compact-sm" variant="default" onClick={() => void entry.tryOut(channel)}>
            Send a test
          </Button>
        )}
        <span className={text.note}>By what is entered here, saved or not.</span>
      </div>
      <div aria-live="polite" className={classes.testResult}>
        {trial?.busy === true ? (
          <StepList steps={[{ key: 'run', words: 'The server tries it…', state: 'running' }]} />
        ) : null}
        {trial === null || trial.failure === null ? null : Object.keys(faultsOfFailure(trial.failure)).length > 0 ? (
          <p className={classes.outcome}>
            <SeverityShape severity="amber" />
            <span>Not tried: a field cannot be so.</span>
          </p>
        ) : (
          <ErrorState failure={trial.failure} inline />
        )}
        {trial === null || trial.result === null ? null : (
          <>
            <StepList
              steps={trial.result.steps.map(({ step, ok, message }, index) => ({
                key: `${index}`,
                words: step,
                state: ok ? 'done' : 'failed',
                seen: message,
              }))}
            />
            <p className={classes.outcome}>
              {trial.result.ok ? null : <SeverityShape severity="amber" />}
              <strong>{trial.result.ok ? 'It works.' : 'It does not work yet: see the step that failed.'}</strong>
            </p>
          </>
        )}
      </div>
    </div>
  )
}
