import { type ComponentType, lazy, Suspense, useEffect, useState } from 'react'
import { code } from './code.ts'

/** Returns a component whose code loads on first use or when the page is idle. Waits while the server is unreachable. */
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

/**
 * Returns a dialog whose code loads on first use. The dialog is mounted closed, with the props of the first render, and then
 * opens. A dialog that is mounted open does not know its opener, so it could not give the focus back.
 */
export const lazilyDialog = <Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  /** Props that close it, if it is rendered only while it is open. */
  whenClosed: Partial<Props> = {},
) => {
  const Dialog = lazily<{ closed: Props; current: Props }>(async () => {
    const Loaded = await load()
    return ({ closed, current }) => {
      const [isMounted, setMounted] = useState(false)
      useEffect(() => setMounted(true), [])
      return <Loaded {...(isMounted ? current : closed)} />
    }
  })
  const LazilyDialog = (props: Props) => {
    const [closed] = useState({ ...props, ...whenClosed })
    return <Dialog closed={closed} current={props} />
  }
  return Object.assign(LazilyDialog, { preload: Dialog.preload })
}

/** Loads code when the page is idle. */
export const useIdlePreload = (...parts: { preload: () => Promise<unknown> }[]): void => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the parts are constants
  useEffect(() => {
    const run = () => {
      // If loading fails, the error appears on use.
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
