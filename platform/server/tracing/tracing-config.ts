import { Secret } from '../secret.ts'
import { StartError } from '../start-error.ts'

/** Destination and sampling of spans, from the standard variables of OpenTelemetry. */
export interface TracingConfig {
  /** Receives OTLP as JSON by POST. */
  url: string
  headers: Readonly<Record<string, Secret>>
  serviceName: string
  /** Share of the traces starting here that are kept, 0 to 1. */
  ratio: number
  /** Whether to follow the caller's sampling decision. */
  followsParent: boolean
}

const samplers: Readonly<Record<string, { followsParent: boolean; ratio: number | null }>> = {
  always_on: { followsParent: false, ratio: 1 },
  always_off: { followsParent: false, ratio: 0 },
  traceidratio: { followsParent: false, ratio: null },
  parentbased_always_on: { followsParent: true, ratio: 1 },
  parentbased_always_off: { followsParent: true, ratio: 0 },
  parentbased_traceidratio: { followsParent: true, ratio: null },
}

/** Parses `name=value,name=value`, both percent-encoded. */
const headersOf = (text: string): Record<string, Secret> => {
  const headers: Record<string, Secret> = {}
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const at = part.indexOf('=')
    try {
      const name = decodeURIComponent(part.slice(0, Math.max(0, at)).trim())
      const value = decodeURIComponent(part.slice(at + 1).trim())
      if (!/^[!#$%&'*+.^`|~\w-]{1,100}$/.test(name) || !/^[\x20-\x7e]*$/.test(value)) throw new Error('invalid header')
      headers[name.toLowerCase()] = new Secret(value)
    } catch {
      // Does not quote the text, which may contain a key.
      throw new StartError('OTEL_EXPORTER_OTLP_HEADERS must be percent-encoded name=value pairs, separated by commas.')
    }
  }
  return headers
}

const urlOf = (name: string, text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new StartError(`${name} must be an http or https URL without user name and password.`)
  return url
}

/** Reads the configuration; null: no traces. */
export const tracingConfig = (env: Readonly<Record<string, string | undefined>>): TracingConfig | null => {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT ?? ''
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? ''
  if ((base === '' && own === '') || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null
  const url = own === '' ? urlOf('OTEL_EXPORTER_OTLP_ENDPOINT', base) : urlOf('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own)
  if (own === '') url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/v1/traces`
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? ''
  if (protocol !== '' && protocol !== 'http/json')
    throw new StartError(
      `OTEL_EXPORTER_OTLP_PROTOCOL must be http/json, which collectors accept at the port of http/protobuf, not "${protocol}".`,
    )
  const name =
    env.OTEL_TRACES_SAMPLER || (env.OTEL_TRACES_SAMPLER_ARG ? 'parentbased_traceidratio' : 'parentbased_always_on')
  const sampler = Object.hasOwn(samplers, name) ? samplers[name] : undefined
  if (sampler === undefined)
    throw new StartError(`OTEL_TRACES_SAMPLER must be one of ${Object.keys(samplers).join(', ')}, not "${name}".`)
  const ratio = sampler.ratio ?? Number(env.OTEL_TRACES_SAMPLER_ARG || '1')
  if (!(ratio >= 0 && ratio <= 1)) throw new StartError('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.')
  return {
    url: url.href,
    headers: headersOf(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? env.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    serviceName: env.OTEL_SERVICE_NAME || 'portcullis',
    ratio,
    followsParent: sampler.followsParent,
  }
}
