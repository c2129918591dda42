import { invalid } from '@portcullis/platform/server/app-error.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { createTurns } from '@portcullis/platform/server/limiters/turns.ts'
import type { ConfigTested, ConfigTestStep, HealthStatus, NacSystem } from '#features/contract.ts'
import type { GivenItems } from '#features/settings/server/index.ts'
import type { QuarantineContext } from './context.ts'
import { NacFault } from './fault.ts'
import type { Systems } from './systems.ts'

/** Time limits of a connection test and of a health probe. */
const tryMs = 25_000
const probeMs = 4_000
/** Shortest interval between two probes of a system. */
const probeEveryMs = 8_000

interface Step {
  name: string
  /** Setting to correct if the step fails after the sign-in; undefined: none of them. */
  field?: string
  /** Setting to correct if the sign-in of the step fails. */
  signInField: string
  run(): Promise<string>
}

/** Returns the setting to correct after a failed step. */
const fieldOf = (prefix: string, { stage, part }: NacFault, { field, signInField }: Step): { field?: string } => {
  const name =
    stage === 'connect'
      ? `${prefix}_${part === 'certificate' ? 'CA' : 'URL'}`
      : stage === 'sign-in'
        ? signInField
        : field
  return name === undefined ? {} : { field: name }
}

/** Runs steps up to the first failure. A first step that fails after the connection is reported as connected. */
const inSteps = async (system: NacSystem, steps: readonly Step[]): Promise<ConfigTested> => {
  const prefix = system.toUpperCase()
  const done: ConfigTestStep[] = []
  for (const step of steps) {
    const { name, run } = step
    try {
      done.push({ step: name, ok: true, message: await run() })
    } catch (error) {
      if (!(error instanceof NacFault)) throw error
      const fault = { ok: false, message: error.message, ...fieldOf(prefix, error, step) }
      if (done.length === 0) {
        if (error.stage === 'connect') return { ok: false, steps: [{ step: 'Connect', ...fault }] }
        done.push({ step: 'Connect', ok: true, message: 'The system answered with a trusted certificate.' })
      }
      done.push({ step: error.stage === 'sign-in' ? signInOf(name) : name, ...fault })
      return { ok: false, steps: done }
    }
  }
  const connected = { step: 'Connect', ok: true, message: 'The system answered with a trusted certificate.' }
  return { ok: true, steps: [connected, ...done] }
}
const signInOf = (name: string): string => (name === 'Data Exchange' ? name : 'Sign in')

/** Wires the connection tests and health probes of both systems. */
export const createConnectionTests = ({ db, clock, audit, settings }: QuarantineContext, systems: Systems) => {
  // A test takes seconds if a system hangs; two at once are enough for people.
  const turns = createTurns({ atOnce: 2, waiting: 4, waitMs: 5_000, retryAfter: 5, spread: 5 })
  const probed = new Map<NacSystem, { at: number; seen: Promise<{ status: HealthStatus; description: string }> }>()

  async function tried(actor: Actor, system: NacSystem, url: string, steps: readonly Step[]): Promise<ConfigTested> {
    await db.transaction((tx) =>
      audit.write(tx, actor, { action: 'config.tested', entity: system, variant: system, details: url }),
    )
    return turns.run(() => inSteps(system, steps))
  }

  function required(text: string, name: string): string {
    if (text === '') throw invalid(`body.${name}`, 'is required for the test')
    return text
  }

  async function probe(system: NacSystem): Promise<{ status: HealthStatus; description: string }> {
    const manner = { signal: AbortSignal.timeout(probeMs) }
    try {
      let description: string
      if (system === 'ise') {
        const values = await systems.values.ise()
        const policy = values.text('ISE_ANC_POLICY')
        if (!(await systems.iseOf(values, manner).hasPolicy(policy)))
          throw new NacFault(
            'setup',
            'answer',
            `The ANC policy ${policy} does not exist in ISE. Create it there, or enter another one.`,
          )
        description = 'ERS answered, and the ANC policy exists.'
      } else {
        const values = await systems.values.cact()
        const property = values.text('CACT_PROPERTY')
        if (!(await systems.cactOf(values, manner).hasProperty()))
          throw new NacFault(
            'setup',
            'answer',
            `The property ${property} does not exist in CounterACT. Define it there.`,
          )
        description = 'The Web API answered, and the property is defined.'
      }
      await settings.noteUse(system, null)
      return { status: 'OK', description }
    } catch (error) {
      if (!(error instanceof NacFault)) throw error
      await settings.noteUse(system, error.message)
      return { status: 'Error', description: error.message }
    }
  }

  return {
    ise: async (actor: Actor, given: GivenItems): Promise<ConfigTested> => {
      const values = await systems.values.ise(given)
      const url = required(values.text('ISE_URL'), 'ISE_URL')
      required(values.text('ISE_USER'), 'ISE_USER')
      const policy = required(values.text('ISE_ANC_POLICY'), 'ISE_ANC_POLICY')
      const client = systems.iseOf(values, { isTest: true, signal: AbortSignal.timeout(tryMs) })
      return tried(actor, 'ise', url, [
        {
          name: 'Sign in',
          field: 'ISE_URL',
          signInField: 'ISE_USER',
          run: async () => {
            await client.hasPolicy(policy)
            return 'ERS accepted the user name and password.'
          },
        },
        {
          name: 'ANC policy',
          field: 'ISE_ANC_POLICY',
          signInField: 'ISE_USER',
          run: async () => {
            if (!(await client.hasPolicy(policy)))
              throw new NacFault(
                'setup',
                'answer',
                `The ANC policy ${policy} does not exist. Create it in ISE under Operations, Adaptive Network Control, Policy List.`,
              )
            return `${policy} exists.`
          },
        },
        {
          name: 'Quarantines',
          signInField: 'ISE_USER',
          run: async () => {
            if (!(await client.canList()))
              throw new NacFault(
                'setup',
                'answer',
                'ERS does not offer ANC endpoints. Check the version and the ANC licence.',
              )
            return 'Quarantines can be read back.'
          },
        },
        {
          name: 'Sessions',
          signInField: 'ISE_USER',
          run: async () => {
            const sessions = await client.activeSessions().catch((error: unknown) => {
              if (error instanceof NacFault) return null
              throw error
            })
            return sessions === null
              ? 'Sessions cannot be read: the monitoring node did not answer, or the user is not in the group MnT Admin. Automatic quarantines then await approval.'
              : `${sessions} live ${sessions === 1 ? 'session' : 'sessions'}.`
          },
        },
      ])
    },

    cact: async (actor: Actor, given: GivenItems): Promise<ConfigTested> => {
      const values = await systems.values.cact(given)
      const url = required(values.text('CACT_URL'), 'CACT_URL')
      required(values.text('CACT_USER'), 'CACT_USER')
      required(values.text('CACT_DEX_ACCOUNT'), 'CACT_DEX_ACCOUNT')
      const property = values.text('CACT_PROPERTY')
      const manner = { isTest: true, signal: AbortSignal.timeout(tryMs) }
      const client = systems.cactOf(values, manner, { current: null })
      return tried(actor, 'cact', url, [
        {
          name: 'Sign in',
          field: 'CACT_URL',
          signInField: 'CACT_USER',
          run: async () => {
            await client.signIn()
            return 'The Web API accepted the user name and password.'
          },
        },
        {
          name: 'Property',
          field: 'CACT_PROPERTY',
          signInField: 'CACT_TOKEN_STYLE',
          run: async () => {
            if (!(await client.hasProperty()))
              throw new NacFault(
                'setup',
                'answer',
                `The property ${property} does not exist. Define it in CounterACT under Options, Data Exchange.`,
              )
            return `The property ${property} is defined.`
          },
        },
        {
          name: 'Data Exchange',
          field: 'CACT_DEX_ACCOUNT',
          signInField: 'CACT_DEX_ACCOUNT',
          run: async () => {
            await client.tryExchange()
            return 'Data Exchange accepted the account and password.'
          },
        },
      ])
    },

    /** Returns the health of a system, at most eight seconds old. */
    health: async (system: NacSystem): Promise<{ status: HealthStatus; description: string }> => {
      if (!(await systems.rules(system)).isOn) return { status: 'Unknown', description: 'Not configured' }
      const last = probed.get(system)
      if (last !== undefined && clock.now() - last.at < probeEveryMs) return last.seen
      const seen = probe(system)
      probed.set(system, { at: clock.now(), seen })
      return seen
    },
    forget: (system: NacSystem): void => {
      probed.delete(system)
    },
  }
}
