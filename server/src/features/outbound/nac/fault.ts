/**
 * Why ISE or CounterACT did not do what was asked. `away`: tried again later. `setup`: this server's configuration, or a
 * setting over there, has to change first. `refused`: understood, and not done for this host.
 */
export type FaultKind = 'away' | 'setup' | 'refused'

/** How far it came. */
export type FaultStage = 'connect' | 'sign-in' | 'answer'

/** A failure in words that help. */
export class NacFault extends Error {
  readonly kind: FaultKind
  readonly stage: FaultStage
  constructor(kind: FaultKind, stage: FaultStage, message: string) {
    super(message)
    this.name = 'NacFault'
    this.kind = kind
    this.stage = stage
  }
}

type Failure = Error & { code?: string }

const certificateCodes =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT|ERR_SSL_TLSV1_ALERT_UNKNOWN_CA|HOSTNAME_MISMATCH|INVALID_CA)/

/** A failure of the connection as what helps. */
export const connectionFault = (failure: Failure, where: string): NacFault => {
  const code = failure.code ?? ''
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return new NacFault(
      'setup',
      'connect',
      `The certificate of ${where} is made for another name. Use the name that it holds in the address.`,
    )
  if (code === 'CERT_HAS_EXPIRED')
    return new NacFault('setup', 'connect', `The certificate of ${where} has expired. Renew it there.`)
  if (certificateCodes.test(code))
    return new NacFault(
      'setup',
      'connect',
      `The certificate of ${where} is not accepted (${code}). Give the certificate of the authority that issued it.`,
    )
  if (code === 'ECONNREFUSED')
    return new NacFault('away', 'connect', `Nothing listens at ${where}. Check address and port, and that it runs.`)
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return new NacFault('setup', 'connect', `${where} does not speak TLS 1.2 or newer. Check the port.`)
  return new NacFault('away', 'connect', `The connection to ${where} broke (${code || 'no reason given'}).`)
}
