import { Button } from '@mantine/core'
import { isOutage, isStoredRequest, messageOf } from '../lib/problem.ts'
import { Stack } from './layout/layout.tsx'
import { SeverityShape } from './SeverityTag.tsx'
import classes from './states.module.css'
import { strings } from './strings.ts'
import { useRecovery } from './useRecovery.ts'

export interface ErrorStateProps {
  failure: unknown
  retry?: () => void
  /** Sends a change again that may be sent twice, because it sets values. */
  resend?: () => void
  /** Shows a strip above the content instead of a page. */
  inline?: boolean
}

/**
 * Shows a failure: what happened, the remedy, and a button to try again. After an outage it calls `retry` or `resend`
 * automatically. Any other change could take effect twice, so it only says that the server is back.
 */
export const ErrorState = ({ failure, retry, resend, inline = false }: ErrorStateProps) => {
  const { title, detail, cure } = messageOf(failure)
  const isBack = useRecovery(failure, { retry, resend })
  if (isBack)
    return (
      <div className={inline ? classes.notice : classes.page} role="status">
        <SeverityShape severity="amber" />
        <Stack grow gap={2}>
          <strong>{strings.serverBack}</strong>
          <span>{strings.serverBackDetail}</span>
        </Stack>
      </div>
    )
  if (isStoredRequest(failure))
    return (
      <div className={inline ? classes.strip : classes.page} role="status">
        <SeverityShape severity="amber" />
        <Stack grow gap={2}>
          <strong>{strings.waitingForApprover}</strong>
          <span>{strings.storedDetail({ detail })}</span>
          <a href="/policy/requests">{strings.openRequest}</a>
        </Stack>
      </div>
    )
  return (
    <div className={inline ? classes.strip : classes.page} role="alert">
      <SeverityShape severity="red" />
      <Stack grow gap={2}>
        <strong>{title}</strong>
        <span>{detail}</span>
        <span className={classes.quiet}>
          {cure}
          {isOutage(failure) && (retry ?? resend) !== undefined ? ` ${strings.retrying}` : ''}
        </span>
      </Stack>
      {retry === undefined ? null : (
        <Button size="compact-sm" variant="default" onClick={retry}>
          {strings.tryAgain}
        </Button>
      )}
    </div>
  )
}
