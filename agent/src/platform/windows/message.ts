import type { Platform } from '../platform.ts'
import type { Koffi } from './koffi.ts'

const TITLE = 'Portcullis'
const MAX_TEXT = 1000
const MAX_SESSIONS = 16
/** WTS_SESSION_INFOW: number, name, state. */
const SESSION_BYTES = 24
const STATE_OFFSET = 16
const ACTIVE = 0
/** MB_OK, MB_ICONWARNING and MB_SETFOREGROUND. */
const STYLE = 0x30 | 0x10000
/** Time after which Windows closes the message. */
const SHOWN_SECONDS = 120

/** Shows messages to the users of all active sessions. Does not wait for them. */
export const createMessage = (koffi: Koffi): NonNullable<Platform['showMessage']> => {
  const library = koffi.load('wtsapi32.dll')
  const enumerate = library.func(
    'bool WTSEnumerateSessionsW(void* server, uint32 reserved, uint32 version, _Out_ uint8_t* sessions, _Out_ uint8_t* count)',
  )
  const freeMemory = library.func('void WTSFreeMemory(uintptr memory)')
  const send = library.func(
    'bool WTSSendMessageW(void* server, uint32 session, str16 title, uint32 titleBytes, str16 text, uint32 textBytes, uint32 style, uint32 seconds, _Out_ uint8_t* answer, bool waits)',
  )

  /** Returns the numbers of the sessions in which a user works. */
  function activeSessions(): number[] {
    const [address, count] = [Buffer.alloc(8), Buffer.alloc(4)]
    if (!enumerate(null, 0, 1, address, count)) return []
    const pointer = address.readBigUInt64LE()
    try {
      const size = Math.min(count.readUInt32LE(), MAX_SESSIONS) * SESSION_BYTES
      const all = Buffer.from(koffi.decode(pointer, koffi.array('uint8', size, 'Typed')) as Uint8Array)
      const offsets = Array.from({ length: size / SESSION_BYTES }, (_, index) => index * SESSION_BYTES)
      return offsets.filter((at) => all.readUInt32LE(at + STATE_OFFSET) === ACTIVE).map((at) => all.readUInt32LE(at))
    } finally {
      freeMemory(pointer)
    }
  }

  return (text, onFailure) => {
    const shown = text.slice(0, MAX_TEXT)
    let failed = 0
    for (const session of activeSessions()) {
      const isSent = send(
        ...[null, session, TITLE, Buffer.byteLength(TITLE, 'utf16le'), shown, Buffer.byteLength(shown, 'utf16le')],
        ...[STYLE, SHOWN_SECONDS, Buffer.alloc(4), false],
      )
      if (isSent !== true) failed++
    }
    if (failed > 0) onFailure(`Windows did not show the message in ${failed} sessions.`)
  }
}
