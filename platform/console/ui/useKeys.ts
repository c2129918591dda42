import { useEffect, useEffectEvent } from 'react'
import type { KeyBinding } from '../lib/keys.ts'
import { useServices } from '../lib/services.tsx'

/** Registers key bindings while the component is mounted. */
export const useKeys = (bindings: readonly KeyBinding[]): void => {
  const { keys } = useServices()
  const bindingOf = useEffectEvent((name: string) => bindings.find((one) => one.keys === name))
  const names = bindings.map((binding) => binding.keys).join('\n')
  useEffect(
    () =>
      keys.add(
        names.split('\n').flatMap((name): KeyBinding[] => {
          const binding = bindingOf(name)
          if (binding === undefined) return []
          return [{ ...binding, run: () => bindingOf(name)?.run() }]
        }),
      ),
    [keys, names],
  )
}
