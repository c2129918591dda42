import { explainedFault } from '@portcullis/platform/server/connection-fault.ts'
import type { IssuerError } from '@portcullis/platform/server/outbound-issuer.ts'
import { OutboundProxyError } from '@portcullis/platform/server/outbound-proxy.ts'

/**
 * Why ISE or CounterACT did not carry out a request. `away`: retried later. `setup`: the configuration here or there
 * has to change first. `refused`: rejected for this host.
 */
export type FaultKind = 'away' | 'setup' | 'refused'

/** The stage at which the request failed. */
export type FaultStage = 'connect' | 'sign-in' | 'answer'

/** What has to be corrected here, if it is not what the stage suggests. */
export type FaultyPart = 'certificate'

/** A failure with a message that helps to fix it. */
export class NacFault extends Error {
  readonly kind: FaultKind
  readonly stage: FaultStage
  readonly part: FaultyPart | undefined
  constructor(kind: FaultKind, stage: FaultStage, message: string, part?: FaultyPart) {
    super(message)
    this.name = 'NacFault'
    this.kind = kind
    this.stage = stage
    this.part = part
  }
}

type Failure = IssuerError & { code?: string }

const certificateCodes =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT|ERR_SSL_TLSV1_ALERT_UNKNOWN_CA|HOSTNAME_MISMATCH|INVALID_CA)/

/** Returns true if the proxy may open the connection later without a change here. */
const isPassing = ({ fault }: OutboundProxyError): boolean =>
  fault === 'unreachable' || fault === 'away' || fault === 'late'

/** Converts a connection failure into a message with a cure. */
export const connectionFault = (failure: Failure, where: string): NacFault => {
  if (failure instanceof OutboundProxyError)
    return new NacFault(isPassing(failure) ? 'away' : 'setup', 'connect', failure.message)
  const code = failure.code ?? ''
  const explained = explainedFault(failure, where)
  if (explained !== null) return new NacFault('setup', 'connect', explained, 'certificate')
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return new NacFault(
      'setup',
      'connect',
      `The certificate of ${where} was issued for another name. Use a name from the certificate in the address.`,
    )
  if (code === 'CERT_HAS_EXPIRED')
    return new NacFault('setup', 'connect', `The certificate of ${where} has expired. Renew it there.`)
  if (certificateCodes.test(code))
    return new NacFault(
      'setup',
      'connect',
      `The certificate of ${where} is not trusted (${code}). Enter the certificate of the CA that issued it.`,
      'certificate',
    )
  if (code === 'ECONNREFUSED')
    return new NacFault(
      'away',
      'connect',
      `Connection refused by ${where}. Check the address and port, and that the service runs.`,
    )
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return new NacFault('setup', 'connect', `${where} does not support TLS 1.2 or newer. Check the port.`)
  return new NacFault(
    'away',
    'connect',
    `The connection to ${where} was lost (${code || 'no reason given'}). Check the network.`,
  )
}
