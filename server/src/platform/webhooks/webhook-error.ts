import { type ConnectionFault, connectionFaultOf, connectionSentences } from '#platform/connection-fault.ts'

/** Why a webhook got no answer. `insecure`: http to something else than loopback that the operator named. */
export type WebhookFault = ConnectionFault | 'insecure'

const sentences: Readonly<Record<WebhookFault, (host: string) => string>> = {
  ...connectionSentences,
  timeout: (host) => `${host} did not answer in time.`,
  broken: (host) => `${host} ended the connection, or gave no HTTP answer.`,
  insecure: (host) =>
    `Webhooks go by https. By http they go to addresses on loopback that PORTCULLIS_OUTBOUND_ALLOW names, and ${host} is none.`,
}

export class WebhookError extends Error {
  readonly fault: WebhookFault
  constructor(fault: WebhookFault, host: string, cause?: unknown) {
    super(sentences[fault](host), { cause })
    this.name = 'WebhookError'
    this.fault = fault
  }
}

export const webhookError = (error: unknown, host: string): WebhookError => {
  const isInsecure = (error as NodeJS.ErrnoException | undefined)?.code === 'EINSECURE'
  return new WebhookError(isInsecure ? 'insecure' : connectionFaultOf(error), host, error)
}
