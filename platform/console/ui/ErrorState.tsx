import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { plainText } from '../lib/device-text.ts'
import { CallFailure, isOutage, isStoredRequest, messageOf } from '../lib/problem.ts'
import { Notice, Stack } from './layout/layout.tsx'
import { SeverityShape } from './SeverityTag.tsx'
import { strings } from './strings.ts'
import { useRecovery } from './useRecovery.ts'

interface Failed {
  failure: unknown
  retry?: () => void
  /** Sends a change again that may be sent twice, because it sets values. */
  resend?: () => void
  /** Shows a strip above the content instead of a page. */
  inline?: boolean
}

const State = ({
  severity,
  inline,
  role,
  children,
  button,
}: {
  severity: 'amber' | 'red'
  inline: boolean
  role: 'alert' | 'status'
  children: ReactNode
  button?: ReactNode
}) => (
  <Notice
    as="div"
    align="baseline"
    role={role}
    {...(inline ? { tone: severity === 'red' ? 'red' : undefined } : { style: { maxWidth: 560, margin: '48px auto' } })}
  >
    <SeverityShape severity={severity} />
    <Stack grow gap={2}>
      {children}
    </Stack>
    {button}
  </Notice>
)

/** Lists the tests that refuse a change of the rules. */
const BrokenTests = ({ failure }: { failure: unknown }) =>
  failure instanceof CallFailure && failure.code === 'policy_tests_failed' ? (
    <Stack as="ul" gap={2} scroll style={{ maxHeight: 160 }}>
      {failure.fields.map(({ field, message }) => (
        <li key={field}>
          <strong>{plainText(field)}</strong>: {plainText(message)}
        </li>
      ))}
      <li>
        <a href="/policy/tests">{strings.openTests}</a>
      </li>
    </Stack>
  ) : null

/**
 * Shows a failure: what happened, the remedy, and a button to try again. After an outage it calls `retry` or `resend`
 * automatically. Any other change could take effect twice, so it only says that the server is back.
 */
const Failure = ({ failure, retry, resend, inline = false }: Failed) => {
  const { title, detail, cure } = messageOf(failure)
  const isBack = useRecovery(failure, { retry, resend })
  if (isBack)
    return (
      <State severity="amber" inline={inline} role="status">
        <strong>{strings.serverBack}</strong>
        <span>{strings.serverBackDetail}</span>
      </State>
    )
  if (isStoredRequest(failure))
    return (
      <State severity="amber" inline={inline} role="status">
        <strong>{strings.waitingForApprover}</strong>
        <span>{strings.storedDetail({ detail })}</span>
        <a href="/policy/requests">{strings.openRequest}</a>
      </State>
    )
  return (
    <State
      severity="red"
      inline={inline}
      role="alert"
      button={
        retry === undefined ? null : (
          <Button size="compact-sm" variant="default" onClick={retry}>
            {strings.tryAgain}
          </Button>
        )
      }
    >
      <strong>{title}</strong>
      <span>{detail}</span>
      <BrokenTests failure={failure} />
      <span>
        {cure}
        {isOutage(failure) && (retry ?? resend) !== undefined ? ` ${strings.retrying}` : ''}
      </span>
    </State>
  )
}

type ErrorStateProps = Omit<Failed, 'failure'> &
  ({ failure: unknown } | { query: { error: unknown; refetch: () => unknown } })

/** Shows the failure of a query or a change, if it has one. */
export const ErrorState = (props: ErrorStateProps) => {
  const { failure, ...rest } =
    'query' in props ? { failure: props.query.error, retry: () => void props.query.refetch(), ...props } : props
  return failure === null ? null : <Failure {...rest} failure={failure} />
}
