import { createStreamSend } from './stream.ts'
import { syslogError } from './syslog-error.ts'
import type { SyslogSenderOptions, SyslogTimeouts } from './syslog-options.ts'
import { createDatagramSend } from './udp.ts'

export interface SyslogSender {
  /**
   * Sends messages of one line each. Over TCP and TLS it resolves when the receiver has read them all; over UDP, which
   * confirms nothing, when they were sent. After a `SyslogError`, send all of them again.
   */
  send(messages: readonly Buffer[]): Promise<void>
  /** Ends sends in progress with a `reset`. */
  close(): void
}

const usual: SyslogTimeouts = { connectMs: 5_000, wholeMs: 30_000 }

/** Creates a sender of syslog messages to one address. */
export const createSyslogSender = (options: SyslogSenderOptions): SyslogSender => {
  const { address, timeouts = usual } = options
  const ending = new AbortController()
  const send =
    address.protocol === 'udp'
      ? createDatagramSend({ ...options, timeouts, ending: ending.signal })
      : createStreamSend({ ...options, timeouts, ending: ending.signal })
  return {
    send: async (messages) => {
      if (messages.length === 0) return
      try {
        await send(messages)
      } catch (error) {
        throw syslogError(error, address)
      }
    },
    close: () => ending.abort(),
  }
}
