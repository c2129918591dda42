import { Button } from '@mantine/core'
import type { Channel } from '@portcullis/contract'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { SeverityShape } from '../../ui/SeverityTag.tsx'
import { StepList } from '../../ui/steps/StepList.tsx'
import text from '../../ui/text.module.css'
import { faultsOfFailure } from './draft.ts'
import classes from './notifications.module.css'
import { strings } from './strings.ts'
import type { GroupDraft } from './useGroupDraft.ts'

/** Sends a real message by a channel as it is entered, and shows how each step went. */
export const ChannelTest = ({ channel, entry }: { channel: Channel; entry: GroupDraft }) => {
  const trial = entry.trial?.channel === channel ? entry.trial : null
  return (
    <div className={classes.test} aria-busy={trial?.busy === true}>
      <div className={classes.testHead}>
        {trial?.busy === true ? (
          <Button size="compact-sm" variant="default" onClick={entry.stop}>
            {strings.stopTheTest}
          </Button>
        ) : (
          <Button size="compact-sm" variant="default" onClick={() => void entry.tryOut(channel)}>
            {strings.sendATest}
          </Button>
        )}
        <span className={text.note}>{strings.byWhatIsEnteredHereSaved}</span>
      </div>
      <div aria-live="polite" className={classes.testResult}>
        {trial?.busy === true ? (
          <StepList steps={[{ key: 'run', words: strings.theServerTriesIt, state: 'running' }]} />
        ) : null}
        {trial === null || trial.failure === null ? null : Object.keys(faultsOfFailure(trial.failure)).length > 0 ? (
          <p className={classes.outcome}>
            <SeverityShape severity="amber" />
            <span>{strings.notTriedAFieldCannotBe}</span>
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
              <strong>{trial.result.ok ? strings.itWorks : strings.itDoesNotWorkYetSee}</strong>
            </p>
          </>
        )}
      </div>
    </div>
  )
}
