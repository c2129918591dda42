import type { Gate } from '../platform/platform.ts'
import type { Evaluator } from './evaluator.ts'
import type { Outcome } from './pass.ts'

/**
 * Returns the switches for interfaces that stay open on an armed host. A program that changes the configuration of a device
 * claims the new interfaces before the agent can open them. New interfaces are therefore open on a controller with a device
 * that has several configurations and is allowed by its identity. If a device with several configurations is limited to
 * kinds, they stay closed, and the agent opens them one by one.
 */
export const switchesToOpen = (
  outcomes: Iterable<Pick<Outcome, 'identified' | 'decision' | 'guard' | 'isWorking'>>,
  { gate, evaluator }: { gate: Pick<Gate, 'interfaceSwitch'>; evaluator: Pick<Evaluator, 'scopeOf'> },
): ReadonlySet<string> => {
  const open = new Set<string>()
  const limited = new Set<string>()
  for (const { identified, decision, guard, isWorking } of outcomes) {
    const { isComplete, configurations } = identified.parsed
    const name = gate.interfaceSwitch?.(identified.portPath)
    if (name === undefined || !isWorking || (isComplete && configurations.length === 1)) continue
    const isAllowed = decision.effect === 'allow' || guard === 'present' || guard === 'recent'
    const isIdentity = isAllowed && evaluator.scopeOf(decision, identified.device).by === 'identity'
    ;(isIdentity ? open : limited).add(name)
  }
  return new Set([...open].filter((name) => !limited.has(name)))
}
