import type { Koffi } from './koffi.ts'
import { SERVICE_STATES, type ServiceControl } from './service.ts'

const OWN_PROCESS = 0x10
const CURRENT_PROCESS = -1n

/** Calls the service control manager (advapi32.dll). Create it once in a process. */
export const createServiceApi = (koffi: Koffi, name: string): ServiceControl => {
  const library = koffi.load('advapi32.dll')
  const mainType = koffi.pointer(koffi.proto('void ServiceMain(uint32 argc, void* argv)'))
  const handlerType = koffi.pointer(
    koffi.proto('uint32 ServiceHandler(uint32 control, uint32 type, void* data, void* context)'),
  )
  koffi.struct('SERVICE_TABLE_ENTRYW', { name: 'str16', main: mainType })
  const startDispatcher = library.func('bool StartServiceCtrlDispatcherW(SERVICE_TABLE_ENTRYW* table)')
  const registerHandler = library.func(
    'void* RegisterServiceCtrlHandlerExW(str16 name, ServiceHandler* handler, void* context)',
  )
  const setStatus = library.func('bool SetServiceStatus(void* service, uint8_t* status)')
  const terminateProcess = koffi.load('kernel32.dll').func('bool TerminateProcess(intptr process, uint32 code)')
  let service: unknown = null

  return {
    dispatch: (onStart, onControl) =>
      new Promise((resolve, reject) => {
        // Windows calls both functions on its own threads; koffi runs them on this one and makes Windows wait.
        const handler = koffi.register((control: number) => onControl(control), handlerType)
        const main = koffi.register(() => {
          service = registerHandler(name, handler, null)
          if (service === null) reject(new Error('Windows refused to register the service control handler.'))
          else onStart()
        }, mainType)
        const table = [
          { name, main },
          { name: null, main: null },
        ]
        startDispatcher.async(table, (error: unknown, isStarted: unknown) => {
          if (error) reject(error)
          else resolve(isStarted === true)
        })
      }),
    report({ state, accepts, error, specificCode, checkpoint, waitHintMs }) {
      const status = Uint32Array.of(
        OWN_PROCESS,
        SERVICE_STATES[state],
        accepts,
        error,
        specificCode,
        checkpoint,
        waitHintMs,
      )
      setStatus(service, new Uint8Array(status.buffer))
    },
    terminate: (code) => void terminateProcess(CURRENT_PROCESS, code),
  }
}
