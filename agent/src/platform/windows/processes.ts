import type { Processes } from '../platform.ts'
import type { Koffi } from './koffi.ts'

/** PROCESS_QUERY_LIMITED_INFORMATION and SYNCHRONIZE. */
const ACCESS = 0x1000 | 0x10_0000
const WAIT_TIMEOUT = 258

const bindProcesses = (koffi: Koffi) => {
  const library = koffi.load('kernel32.dll')
  return {
    open: library.func('void* OpenProcess(uint32 access, bool inherit, uint32 pid)'),
    times: library.func(
      'bool GetProcessTimes(void* process, _Out_ uint8_t* created, _Out_ uint8_t* ended, _Out_ uint8_t* kernel, _Out_ uint8_t* user)',
    ),
    wait: library.func('uint32 WaitForSingleObject(void* handle, uint32 ms)'),
    close: library.func('bool CloseHandle(void* handle)'),
  }
}

/** Identifies processes by their creation time, which also differs between boots. */
export const createProcesses = (koffi: () => Koffi): Processes => {
  let bound: ReturnType<typeof bindProcesses> | undefined
  return {
    startTime(pid) {
      bound ??= bindProcesses(koffi())
      const handle = bound.open(ACCESS, false, pid)
      if (handle === null) return ''
      try {
        const [created, ended, kernel, user] = [8, 8, 8, 8].map((size) => Buffer.alloc(size))
        const isRead = bound.times(handle, created, ended, kernel, user) === true
        // A process that has ended exists until its last handle is closed.
        const isRunning = bound.wait(handle, 0) === WAIT_TIMEOUT
        return isRead && isRunning && created !== undefined ? created.readBigUInt64LE().toString() : ''
      } finally {
        bound.close(handle)
      }
    },
    boot: () => '',
  }
}
