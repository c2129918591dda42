import { Button } from '@mantine/core'
import { isStoredRequest, messageOf } from '../lib/problem.ts'
import { SeverityShape } from './SeverityTag.tsx'
import classes from './states.module.css'
import { strings } from './strings.ts'

export interface ErrorStateProps {
  failure: unknown
  retry?: () => void
  /** A strip above what is still shown, instead of a page of its own. */
  inline?: boolean
}

/** A failure in words: what happened, the cure, and the way to try again. */
export const ErrorState = ({ failure, retry, inline = false }: ErrorStateProps) => {
  const { title, detail, cure } = messageOf(failure)
  if (isStoredRequest(failure))
    return (
      <div className={inline ? classes.strip : classes.page} role="status">
        <SeverityShape severity="amber" />
        <div className={classes.words}>
          <strong>{strings.waitingForASecondApprover}</strong>
          <span>{strings.detailNothingHasChangedYet({ detail })}</span>
          <a href="/policy/requests">{strings.openTheRequest}</a>
        </div>
      </div>
    )
  return (
    <div className={inline ? classes.strip : classes.page} role="alert">
      <SeverityShape severity="red" />
      <div className={classes.words}>
        <strong>{title}</strong>
        <span>{detail}</span>
        <span className={classes.quiet}>{cure}</span>
      </div>
      {retry === undefined ? null : (
        <Button size="compact-sm" variant="default" onClick={retry}>
          {strings.tryAgain}
        </Button>
      )}
    </div>
  )
}
