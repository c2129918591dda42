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
  close(): void
}

export interface ArrivalTiming {
  /** Interval at which waiting events are delivered. */
  pumpMs: number
  /** Interval of polls without a listener. */
  pollMs: number
  /** Interval of polls with a listener, for devices without a driver, whose arrival Windows may not announce. */
  resyncMs: number
}

const arrivalTiming: ArrivalTiming = { pumpMs: 50, pollMs: 500, resyncMs: 5000 }

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
      listener?.close()
    },
  }
}
