import {
  type ConnectionFault,
  connectionFaultOf,
  connectionSentences,
  explainedFault,
} from '#platform/server/connection-fault.ts'

/** Why a webhook got no response. `insecure`: http to an address other than permitted loopback. */
export type WebhookFault = ConnectionFault | 'insecure'

const sentences: Readonly<Record<WebhookFault, (host: string) => string>> = {
  ...connectionSentences,
  timeout: (host) => `${host} did not answer in time.`,
  broken: (host) => `${host} closed the connection, or did not answer with HTTP.`,
  insecure: (host) =>
    `Webhooks need https. Plain http is allowed only for loopback addresses in PORTCULLIS_OUTBOUND_ALLOW, which does not contain ${host}.`,
}

export class WebhookError extends Error {
  readonly fault: WebhookFault
  constructor(fault: WebhookFault, host: string, cause?: unknown) {
    super(explainedFault(cause, host) ?? sentences[fault](host), { cause })
    this.name = 'WebhookError'
    this.fault = fault
  }
}

export const webhookError = (error: unknown, host: string): WebhookError => {
  const isInsecure = (error as NodeJS.ErrnoException | undefined)?.code === 'EINSECURE'
  return new WebhookError(isInsecure ? 'insecure' : connectionFaultOf(error), host, error)
}
