import { Button } from '@mantine/core'
import { isStoredRequest, messageOf } from '../lib/problem.ts'
import { SeverityShape } from './SeverityTag.tsx'
import classes from './states.module.css'
import { strings } from './strings.ts'

export interface ErrorStateProps {
  failure: unknown
  retry?: () => void
  /** Shows a strip above the content instead of a page. */
  inline?: boolean
}

/** Shows a failure: what happened, the remedy, and a button to try again. */
export const ErrorState = ({ failure, retry, inline = false }: ErrorStateProps) => {
  const { title, detail, cure } = messageOf(failure)
  if (isStoredRequest(failure))
    return (
      <div className={inline ? classes.strip : classes.page} role="status">
        <SeverityShape severity="amber" />
        <div className={classes.words}>
          <strong>{strings.waitingForApprover}</strong>
          <span>{strings.storedDetail({ detail })}</span>
          <a href="/policy/requests">{strings.openRequest}</a>
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
