import { isProxyException, splitProxyExceptions } from '@portcullis/domain'
import { cannotStart } from './exit.ts'
import type { System } from './platform/platform.ts'
import { readSecretFile } from './secret-file.ts'
import type { ProxySettings } from './transport/proxy.ts'

/** Maximum size of the credentials. A longer file is another file. */
const MAX_CREDENTIALS = 1024

/** Returns the first line of the file, `user:password`. Messages contain the path and never the content. */
const readCredentials = (path: string, isPrivate: System['isPrivate']): string => {
  const text = readSecretFile(path, 'credentials file of the proxy', isPrivate)
  const [line = ''] = text.split(/\r?\n/)
  if (!/^[^:\u0000-\u001f\u007f]+:[^\u0000-\u001f\u007f]*$/.test(line) || line.length > MAX_CREDENTIALS)
    throw cannotStart(`The file ${path} must contain one line with user:password.`)
  return line
}

export interface ProxyInput {
  url: string | undefined
  credentialsFile: string | undefined
  exceptions: string | undefined
  isPrivate: System['isPrivate']
}

/**
 * Parses the settings of the proxy. Undefined without an address, or with `none`. Arguments and the address are visible to
 * every user of the host, so credentials come from a file.
 *
 * @throws AgentExit(1) with the reason
 */
export const parseProxy = ({
  url: text,
  credentialsFile,
  exceptions: list,
  isPrivate,
}: ProxyInput): ProxySettings | undefined => {
  if (text === undefined || text === 'none') return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  // The text may contain a password, so the messages do not repeat it.
  if (url === undefined || url.protocol !== 'http:' || url.hostname === '')
    throw cannotStart('The address of the proxy is invalid. Use an address such as http://proxy.example.org:3128.')
  if (url.username !== '' || url.password !== '')
    throw cannotStart(
      'Remove user name and password from the address of the proxy. Store them as user:password in a file and set its path with --proxy-credentials-file.',
    )
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw cannotStart('The address of the proxy may contain only scheme, host and port.')
  const exceptions = splitProxyExceptions(list ?? '')
  const bad = exceptions.find((one) => !isProxyException(one))
  if (bad !== undefined)
    throw cannotStart(
      `The proxy exception ${JSON.stringify(bad)} is invalid. Use names, .domains, addresses and networks like 10.0.0.0/8, separated by commas.`,
    )
  const credentials = credentialsFile === undefined ? undefined : readCredentials(credentialsFile, isPrivate)
  return { url, credentials, exceptions }
}
