import { type ComponentType, lazy, Suspense, useEffect } from 'react'
import { code } from './code.ts'

/**
 * A component whose code is not part of the first load: it comes when the page is idle, so that it is there when it is
 * needed, or at once when it is needed earlier. While the server is away it waits.
 */
export const lazily = <Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  fallback: React.ReactNode = null,
) => {
  const Loaded = lazy(async () => ({ default: await code.load(load) }))
  const Lazily = (props: Props) => (
    <Suspense fallback={fallback}>
      <Loaded {...props} />
    </Suspense>
  )
  return Object.assign(Lazily, { preload: load })
}

/** Loads code once the page has nothing else to do. */
export const useIdlePreload = (...parts: { preload: () => Promise<unknown> }[]): void => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the parts are constants of the screen
  useEffect(() => {
    const run = () => {
      // A failure shows when the part is needed.
      for (const part of parts) part.preload().catch(() => undefined)
    }
    if (window.requestIdleCallback === undefined) {
      const timer = setTimeout(run, 1_500)
      return () => clearTimeout(timer)
    }
    const handle = window.requestIdleCallback(run, { timeout: 4_000 })
    return () => window.cancelIdleCallback(handle)
  }, [])
}
