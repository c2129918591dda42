import { guidBytes, type Koffi } from './koffi.ts'

export interface Arrivals {
  stop(): void
}

export interface ArrivalsDeps {
  /** Returns a text that changes when a device is attached or removed. */
  stamp: () => string
  /** Called when devices may have changed. It is never evidence; the caller scans. */
  onEvent: () => void
  /** Starts to receive events. Returns undefined if Windows refuses. */
  listen: (onEvent: () => void) => Listener | undefined
  timing?: ArrivalTiming
}

/** A source of events that must be asked for them. */
export interface Listener {
  /** Delivers the events that are waiting. */
  pump(): void
}

export interface ArrivalTiming {
  /** Interval at which waiting events are delivered. */
  pumpMs: number
  /** Interval of polls without a listener. */
  pollMs: number
  /** Interval of polls with a listener, for devices without a driver, whose arrival Windows may not announce. */
  resyncMs: number
}

/** Each delivery wakes the process, even without events. Under Wine, 20 per second took 0.7 % of a core. */
const arrivalTiming: ArrivalTiming = { pumpMs: 250, pollMs: 500, resyncMs: 5000 }

/** Watches for arrivals and removals by events, and by polls in case an event is missing. */
export const createArrivals = ({ stamp, onEvent, listen, timing = arrivalTiming }: ArrivalsDeps): Arrivals => {
  const read = (): string => {
    try {
      return stamp()
    } catch {
      // The scan that follows an event reports the error.
      return ''
    }
  }
  const listener = listen(onEvent)
  let last = read()
  const pump = listener === undefined ? undefined : setInterval(() => listener.pump(), timing.pumpMs)
  const poll = setInterval(
    () => {
      const now = read()
      if (now !== last) onEvent()
      last = now
    },
    listener === undefined ? timing.pollMs : timing.resyncMs,
  )
  return {
    stop(): void {
      clearInterval(pump)
      clearInterval(poll)
    },
  }
}

const WM_DEVICECHANGE = 0x219
/** DBT_DEVNODES_CHANGED, DBT_DEVICEARRIVAL and DBT_DEVICEREMOVECOMPLETE. */
const CHANGES: ReadonlySet<number> = new Set([7, 0x8000, 0x8004])
const HWND_MESSAGE = -3n
const DEVTYP_DEVICEINTERFACE = 5
const ALL_INTERFACE_CLASSES = 4
const PM_REMOVE = 1
/** Messages per delivery, so that a flood of them does not stop the agent. */
const MAX_MESSAGES = 64
const FILTER_BYTES = 32
const USB_DEVICE = 'a5dcbf10-6530-11d2-901f-00c04fb951ed'

/**
 * Receives device notifications in a window without a screen. Undefined if Windows refuses. The window stays until the
 * process ends, because DestroyWindow did not return under Wine.
 */
export const listenToWindow = (koffi: Koffi, onEvent: () => void): Listener | undefined => {
  const user = koffi.load('user32.dll')
  const kernel = koffi.load('kernel32.dll')
  const procedureType = koffi.pointer(
    koffi.proto('intptr WindowProcedure(void* window, uint32 message, uintptr w, intptr l)'),
  )
  koffi.struct('WNDCLASSEXW', {
    ...{ cbSize: 'uint32', style: 'uint32', procedure: procedureType, classExtra: 'int32', windowExtra: 'int32' },
    ...{ instance: 'void*', icon: 'void*', cursor: 'void*', background: 'void*', menu: 'str16', name: 'str16' },
    ...{ smallIcon: 'void*' },
  })
  const registerClass = user.func('uint16 RegisterClassExW(WNDCLASSEXW* c)')
  const createWindow = user.func(
    'void* CreateWindowExW(uint32 x, str16 c, str16 t, uint32 s, int a, int b, int w, int h, intptr p, void* m, void* i, void* d)',
  )
  const destroyWindow = user.func('bool DestroyWindow(void* window)')
  const defaultProcedure = user.func('intptr DefWindowProcW(void* window, uint32 message, uintptr w, intptr l)')
  const peek = user.func('bool PeekMessageW(_Out_ uint8_t* m, void* window, uint32 a, uint32 b, uint32 r)')
  const dispatch = user.func('intptr DispatchMessageW(uint8_t* m)')
  const register = user.func('void* RegisterDeviceNotificationW(void* window, uint8_t* filter, uint32 flags)')
  const instance = kernel.func('void* GetModuleHandleW(str16 n)')(null)

  const procedure = koffi.register((window: unknown, message: number, w: number | bigint, l: number | bigint) => {
    if (message === WM_DEVICECHANGE && CHANGES.has(Number(w))) onEvent()
    return defaultProcedure(window, message, w, l)
  }, procedureType)
  const name = 'PortcullisDevices'
  const atom = registerClass({
    ...{ cbSize: 80, style: 0, procedure, classExtra: 0, windowExtra: 0, instance },
    ...{ icon: null, cursor: null, background: null, menu: null, name, smallIcon: null },
  })
  if (atom === 0) return undefined
  const window = createWindow(0, name, name, 0, 0, 0, 0, 0, HWND_MESSAGE, null, instance, null)
  if (window === null) return undefined
  const filter = Buffer.alloc(FILTER_BYTES)
  filter.writeUInt32LE(FILTER_BYTES, 0)
  filter.writeUInt32LE(DEVTYP_DEVICEINTERFACE, 4)
  filter.set(guidBytes(USB_DEVICE), 12)
  const notification = register(window, filter, ALL_INTERFACE_CLASSES)
  if (notification === null) {
    destroyWindow(window)
    return undefined
  }
  const message = Buffer.alloc(64)
  return {
    pump(): void {
      for (let i = 0; i < MAX_MESSAGES && peek(message, window, 0, 0, PM_REMOVE) === true; i++) dispatch(message)
    },
  }
}
